/* save.js - the graph or the heat as a picture, to save and to print.
 *
 * SPDX-License-Identifier: MIT
 *
 * A graph draws on a canvas's context. A Drawing has the few methods and properties of one that
 * the graph uses, and makes SVG of them: sharp at any size, with text that can be searched.
 */

const SAVED_WIDTH = 1400, SAVED_MOST = 12000; /* px */

class Drawing {
    constructor(width, height) {
        this.parts = [];
        this.width = width;
        this.height = height;
        this.globalAlpha = 1;
    }

    color(value) {
        return escapeXml(value.trim()) + (this.globalAlpha < 1 ? `" opacity="${this.globalAlpha}`
            : '');
    }

    put(shape, x, y, w, h, rest) {
        const n = [x, y, w, h].map(v => +v.toFixed(2));
        this.parts.push(`<${shape} x="${n[0]}" y="${n[1]}" width="${n[2]}" height="${n[3]}" ` +
            `${rest}/>`);
    }

    clearRect() {}

    fillRect(x, y, w, h) {
        this.put('rect', x, y, w, h, `fill="${this.color(this.fillStyle)}"`);
    }

    strokeRect(x, y, w, h) {
        this.put('rect', x, y, w, h, `fill="none" stroke="${this.color(this.strokeStyle)}" ` +
            `stroke-width="${this.lineWidth}"`);
    }

    fillText(text, x, y) {
        this.parts.push(`<text x="${+x.toFixed(2)}" y="${+(y + 4).toFixed(2)}" ` +
            `fill="${this.color(this.fillStyle)}">${escapeXml(text)}</text>`);
    }

    toString() {
        /* The browser knows the name space: the page contains no address. */
        const { namespaceURI } = new DOMParser().parseFromString('<svg>', 'text/html')
            .querySelector('svg');
        return `<svg xmlns="${namespaceURI}" width="${this.width}" ` +
            `height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" ` +
            `font-family="monospace" font-size="11" xml:space="preserve">` +
            `${this.parts.join('\n')}</svg>\n`;
    }
}

/* XML has no U+FFFE, no U+FFFF and no half of a pair, which a name that is cut may end with. */
const escapeXml = text => text.replace(/[\ufffe\uffff\p{Cs}]/gu, '\ufffd').replace(/[&<>"]/g, c =>
    ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

/* Return the graph with all its levels, also those that are not on the screen, or the heat, as
 * SVG. */
function graphSvg(graph) {
    const height = graph.pictureHeight;
    const drawing = new Drawing(SAVED_WIDTH, height);
    const background = getComputedStyle(graph.canvas.closest('main')).backgroundColor;
    drawing.fillStyle = background;
    drawing.fillRect(0, 0, SAVED_WIDTH, height);
    graph.drawOn(drawing, SAVED_WIDTH, height);
    return drawing.toString();
}

function saveAs(name, blob) {
    const url = URL.createObjectURL(blob);
    element('a', { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* Draw the graph on a canvas twice as fine as the screen, and save it. */
function savePng(graph, name) {
    const height = graph.pictureHeight, canvas = element('canvas',
        { width: 2 * SAVED_WIDTH, height: 2 * height }), context = canvas.getContext('2d');
    context.scale(2, 2);
    context.fillStyle = getComputedStyle(graph.canvas.closest('main')).backgroundColor;
    context.fillRect(0, 0, SAVED_WIDTH, height);
    graph.drawOn(context, SAVED_WIDTH, height);
    canvas.toBlob(blob => saveAs(name, blob), 'image/png');
}

function saveMenu(app) {
    const base = byId('title').textContent.replace(/\.syscap\b|\.cap\b/g, '')
        .replace(/[^\w.-]+/g, '-') || 'profile';
    const item = (text, action) => element('button', { type: 'button', onclick: () => {
        app.popup.close();
        action();
    } }, text);
    app.popup.toggle(byId('save'),
        item('SVG picture', () => saveAs(base + '.svg',
            new Blob([graphSvg(app.picture)], { type: 'image/svg+xml' }))),
        item('PNG picture', () => savePng(app.picture, base + '.png')));
}

/* On paper the graph has all its levels, in light colours. */
function preparePrint(app) {
    let wasDark = false;
    addEventListener('beforeprint', () => {
        wasDark = isDark;
        if (isDark)
            app.setDark(false);
        document.querySelector('#panel > section:not([hidden]) > .paper')?.replaceChildren(
            new DOMParser().parseFromString(graphSvg(app.picture),
                'image/svg+xml').documentElement);
    });
    addEventListener('afterprint', () => {
        document.querySelectorAll('.paper').forEach(paper => paper.replaceChildren());
        if (wasDark !== isDark)
            app.setDark(wasDark);
    });
}
