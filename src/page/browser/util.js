/* util.js - helpers for all parts: elements, figures, harmless names.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';

const byId = id => document.getElementById(id);

/* Make an element. Children are added as text, so no name of a capture is parsed as
 * HTML. */
function element(tag, attributes = {}, ...children) {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on'))
            e.addEventListener(name.slice(2), value);
        else if (value === true)
            e.setAttribute(name, '');
        else if (value !== false && value != null)
            e.setAttribute(name, value);
    }
    e.append(...children);
    return e;
}

/* Replace control characters, and those that reorder or hide text, by visible escapes. */
const HARMFUL =
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const harmless = text => text.replace(HARMFUL, c =>
    c < '\u0100' ? '\\x' + c.charCodeAt(0).toString(16).padStart(2, '0')
                 : '\\u{' + c.charCodeAt(0).toString(16) + '}');

/* Split "name (dir/dir/file.js:3:1)"; place is "" without one. */
function splitName(name) {
    const at = name.endsWith(')') ? name.lastIndexOf(' (') : -1;
    return at > 0 ? { name: name.slice(0, at), place: name.slice(at + 2, -1) }
                  : { name, place: '' };
}
const capital = text => text[0].toUpperCase() + text.slice(1);
const baseName = path => path.slice(path.lastIndexOf('/') + 1);

function formatDuration(ns) {
    const digits = (v, unit) => v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0) + ' ' + unit;
    if (ns < 999.5)
        return Math.round(ns) + ' ns';
    return ns < 999.5e3 ? digits(ns / 1e3, 'µs')
        : ns < 999.5e6 ? digits(ns / 1e6, 'ms') : digits(ns / 1e9, 's');
}
const formatCount = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
/* A value of a counter, to six digits. */
const formatNumber = n => (+n.toPrecision(6)).toLocaleString('en', { maximumFractionDigits: 6 });
const formatBytes = n => {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    for (; n >= 1023.5 && unit < 4; unit++)
        n /= 1024;
    return n.toFixed(!unit || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2) + ' ' + units[unit];
};

/* What values are made of, by the unit of a capture; a count has no name of its own. */
const unitNames = { cpu: 'CPU time', wall: 'elapsed time', alloc: 'allocated bytes',
                    live: 'live bytes' };
const isTimed = unit => unit === 'cpu' || unit === 'wall';
const isOfBytes = unit => unit === 'alloc' || unit === 'live';
const formatPercent = share => (100 * share).toFixed(1) + '%';
const formatDelta = share =>
    (share < 0 ? '−' : '+') + Math.abs(100 * share).toFixed(1) + '%';
const formatSeconds = ns => (ns / 1e9).toFixed(ns < 10e9 ? 3 : 2);

/* Run an action at most once per frame, however often it is requested. */
function oncePerFrame(action) {
    let waits = false;
    return () => {
        if (waits)
            return;
        waits = true;
        requestAnimationFrame(() => {
            waits = false;
            action();
        });
    };
}

/* Keep a canvas at its box's size in device pixels, and redraw when the box changes. */
function fitCanvas(canvas, box, draw) {
    const context = canvas.getContext('2d');
    const fit = () => {
        const scale = devicePixelRatio || 1;
        const { width, height } = box();
        if (canvas.width !== Math.round(width * scale) ||
            canvas.height !== Math.round(height * scale)) {
            canvas.width = Math.round(width * scale);
            canvas.height = Math.round(height * scale);
            canvas.style.width = width + 'px';
            canvas.style.height = height + 'px';
        }
        context.setTransform(scale, 0, 0, scale, 0, 0);
        return { context, width, height };
    };
    new ResizeObserver(oncePerFrame(draw)).observe(canvas.parentElement);
    return fit;
}

const announce = text => { byId('live').textContent = text; };
