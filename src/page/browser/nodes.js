/* nodes.js - the boxes of a graph or a tree table, made on demand.
 *
 * SPDX-License-Identifier: MIT
 *
 * A box represents all nodes of the call tree that were reached by the same functions;
 * only boxes large enough to be visible are asked for their children. `x` and `value` are
 * in the unit of the layout. Top-down, children are callees. Bottom-up and in a list of
 * callers, a box notes for each node on the way up the node where the way began.
 */

class Box {
    constructor(view, fn, parent) {
        this.view = view;
        this.fn = fn; /* -1: the whole profile */
        this.parent = parent;
        this.depth = parent ? parent.depth + 1 : 0;
        this.x = 0;
        this.value = 0;
    }

    get name() {
        return this.fn < 0 ? this.title ?? 'all' : this.view.profile.names[this.fn];
    }

    children() {
        return this.kids ??= this.place(this.findChildren());
    }

    /* Place children side by side, the largest first. */
    place(list) {
        list.sort((a, b) => b.value - a.value || a.fn - b.fn);
        let x = this.x;
        for (const child of list) {
            child.x = x;
            x += child.value;
        }
        return list;
    }

    get self() {
        return Math.max(0, this.value - this.children().reduce((s, c) => s + c.value, 0));
    }

    /* Return the figure of each capture; `key` is the one of the layout. */
    parts(key = 'total') {
        return this.view.figures.map(f => this.sum(f[key]));
    }
}

class DownBox extends Box {
    constructor(view, fn, parent) {
        super(view, fn, parent);
        this.nodes = [];
    }

    add(node) {
        this.nodes.push(node);
        this.value += this.view.total[node];
    }

    sum(figures) {
        return this.nodes.reduce((s, n) => s + figures[n], 0);
    }

    findChildren() {
        const { profile, filter, total } = this.view, { tree, frame } = profile;
        const found = new Map();
        const look = node => {
            for (let c = tree.firstChild[node]; c; c = tree.nextSibling[c]) {
                if (!total[c])
                    continue;
                if (filter.shown[c] !== c) {
                    look(c);
                    continue;
                }
                const fn = frame.function[tree.frame[c]];
                if (!found.has(fn))
                    found.set(fn, new DownBox(this.view, fn, this));
                found.get(fn).add(c);
            }
        };
        this.nodes.forEach(look);
        return [...found.values()];
    }
}

class UpBox extends Box {
    constructor(view, fn, parent, weigh) {
        super(view, fn, parent);
        this.weigh = weigh; /* 'self' or 'total': the figure of the nodes in `of` */
        this.nodes = [];    /* the current shown nodes of the walk up */
        this.of = [];       /* the node where each walk began */
    }

    add(node, of) {
        this.nodes.push(node);
        this.of.push(of);
        this.value += this.view[this.weigh][of];
    }

    sum(figures) {
        return this.of.reduce((s, n) => s + figures[n], 0);
    }

    parts() {
        return super.parts(this.weigh);
    }

    findChildren() {
        const { profile, filter } = this.view, { tree, frame } = profile;
        const found = new Map();
        this.nodes.forEach((node, i) => {
            const above = this.fn < 0 ? node : filter.up[node];
            if (!above)
                return;
            const fn = frame.function[tree.frame[above]];
            if (!found.has(fn))
                found.set(fn, new UpBox(this.view, fn, this, this.weigh));
            found.get(fn).add(above, this.of[i]);
        });
        return [...found.values()];
    }
}

function topDown(view) {
    const root = new DownBox(view, -1, null);
    root.add(0);
    return root;
}

function bottomUp(view) {
    const root = new UpBox(view, -1, null, 'self');
    for (let n = 1; n < view.profile.nodes; n++)
        if (view.self[n])
            root.add(n, n);
    return root;
}

/* Return the nodes of a function that count for its total. */
function nodesOf(view, fn) {
    const { profile, filter, total } = view, { tree, frame, nodes } = profile;
    const isOuter = view.isOuter ??= outermostNodes(profile, filter.shown), list = [];
    for (let n = 1; n < nodes; n++)
        if (isOuter[n] && total[n] && filter.shown[n] === n &&
            frame.function[tree.frame[n]] === fn)
            list.push(n);
    return list;
}

function calleesOf(view, fn) {
    const root = new DownBox(view, fn, null);
    nodesOf(view, fn).forEach(n => root.add(n));
    return root;
}

function callersOf(view, fn) {
    const root = new UpBox(view, fn, null, 'total');
    nodesOf(view, fn).forEach(n => root.add(n, n));
    return root;
}
