// hot.ts - a program in TypeScript for typescript.sh; types and empty lines move every line.
// SPDX-License-Identifier: MIT
interface Shape {
    readonly sides: number;
}

type Area = (shape: Shape) => number;

enum Kind { Small, Large }

namespace Geometry {
    export function perimeter(shape: Shape, n: number): number {
        let sum = 0;

        for (let i = 0; i < n; i++)
            sum += Math.sqrt(i) * shape.sides;
        return sum;
    }
}

abstract class Base implements Shape {
    constructor(public readonly sides: number) {}

    work(n: number): number {
        let total: number = 0;
        for (let i = 0; i < 20; i++) {
            total += Geometry.perimeter(this, n);
        }
        return total;
    }
}

class Square extends Base {
    constructor() { super(4); }
}

const area: Area = (shape: Shape): number => {
    let a = 0;
    for (let i = 0; i < 300000; i++)
        a += Math.sin(i) * shape.sides;
    return a;
};

for (let i = 0; i < 60; i++) {
    new Square().work(5000 * (Kind.Large + 1));
    area(new Square());
}
