/* colors.js - the colour of a function: by its kind, or by its change.
 *
 * SPDX-License-Identifier: MIT
 *
 * A kind is a hue; functions of one kind differ a little in lightness, by their names, so
 * neighbours are distinguishable and a function keeps its colour from view to view.
 */

const KINDS = [
    { name: 'interpreted', hue: 68, chroma: 0.125 },
    { name: 'compiled', hue: 150, chroma: 0.125 },
    { name: 'label', hue: 300, chroma: 0.10 },
    { name: 'garbage collection', hue: 15, chroma: 0.15 },
    { name: 'native', hue: 245, chroma: 0.085 },
    { name: 'made by jsprof', hue: 100, chroma: 0.012 },
    { name: 'kernel', hue: 330, chroma: 0.12 },
    { name: 'other', hue: 195, chroma: 0.06 },
    { name: "interpreter's own loop", hue: 265, chroma: 0.05 },
];

let isDark = false;

function setTheme(dark) {
    isDark = dark;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

function nameHash(text) {
    let h = 2166136261;
    for (let i = 0; i < text.length; i++)
        h = Math.imul(h ^ text.charCodeAt(i), 16777619);
    return (h >>> 8 & 1023) / 1023;
}

function kindColor(kind, spread) {
    const { hue, chroma } = KINDS[kind];
    const light = isDark ? 0.43 + 0.11 * spread : 0.80 + 0.09 * spread;
    return `oklch(${light.toFixed(3)} ${(chroma * (isDark ? 0.75 : 0.8)).toFixed(3)} ` +
        `${(hue - 8 + 16 * spread).toFixed(0)})`;
}

/* Growth is orange, shrinkage is blue, and a change that chance explains is grey.
 * Lightness distinguishes them for eyes that do not see the hues. */
function changeColor(change, isSure) {
    const strength = Math.min(1, Math.abs(change));
    if (!isSure || strength < 0.02)
        return isDark ? 'oklch(0.36 0.004 260)' : 'oklch(0.90 0.004 260)';
    const light = isDark ? 0.36 + 0.20 * strength : 0.90 - 0.20 * strength;
    return `oklch(${light.toFixed(3)} ${(0.03 + 0.12 * strength).toFixed(3)} ` +
        `${change > 0 ? 48 : 245})`;
}

class Colors {
    constructor(view) {
        this.view = view;
        this.kinds = functionKinds(view);
        this.cache = new Map();
    }

    kindOf(fn) {
        return this.kinds[fn];
    }

    /* Return the shares in both parts, and whether they differ by more than chance. */
    change(box) {
        const { wholes } = this.view;
        const shares = box.parts().map((v, c) => wholes[c] ? v / wholes[c] : 0);
        const isSure = isSignificant(this.view, shares, box.weigh ?? 'total');
        return { shares, delta: shares[1] - shares[0], isSure };
    }

    of(box) {
        if (box.fn < 0)
            return isDark ? 'oklch(0.30 0.005 260)' : 'oklch(0.93 0.004 260)';
        if (this.view.isDiff && !(box instanceof TimeBox)) {
            const { shares, delta, isSure } = this.change(box);
            return changeColor(delta / Math.max(shares[0], shares[1], 1e-9), isSure);
        }
        let color = this.cache.get(box.fn);
        if (!color) {
            color = kindColor(this.kinds[box.fn], nameHash(box.name));
            this.cache.set(box.fn, color);
        }
        return color;
    }
}
