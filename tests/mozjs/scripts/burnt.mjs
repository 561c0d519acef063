// SPDX-License-Identifier: MIT
export function burnt() {
    let x = 0;
    for (let i = 0; i < 200000; i++)
        x = (x * 31 + i) & 0xffff;
    return x;
}
