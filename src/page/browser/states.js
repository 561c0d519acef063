/* states.js - what threads were doing: the switch, and the band above a thread's curve.
 *
 * SPDX-License-Identifier: MIT
 *
 * Only captures whose samples have states show either. A state is a number of the capture's
 * format; see STATES.
 */

const STATES = [
    { name: 'not known', color: '' }, { name: 'running', color: '#4f9d69' },
    { name: 'waiting for a processor', color: '#d1495b' }, { name: 'asleep', color: '#9aa5b1' },
    { name: 'in a wait of the host', color: '#d79b3d' }, { name: 'stopped', color: '#5c5f77' },
];

/* The states that stacks of the profile have. */
function statesThere(profile) {
    profile.statesThere ??= new Set(profile.stack.state);
    return profile.statesThere;
}

function stateMenu(popup, app) {
    const lines = [...statesThere(app.profile)].sort((a, b) => a - b).map(s => {
        const swatch = element('span', { class: 'swatch' });
        swatch.style.background = STATES[s].color;
        return checkLine(STATES[s].name, app.state.states[s], isOn => {
            app.state.states[s] = isOn;
            app.update();
        }, swatch);
    });
    popup.toggle(byId('states'), ...lines);
}

function describeStates(app) {
    const { states } = app.state, there = statesThere(app.profile);
    const on = STATES.filter((_, s) => there.has(s) && states[s]);
    byId('states-label').hidden = !app.profile.meta.states;
    byId('states').textContent = on.length === there.size ? 'all'
        : on.length === 1 ? on[0].name : 'some';
}

/* Return for each thread and span the state of most of its samples; 0: none, or not known. */
function statesOfSpans({ meta, time, stack }) {
    const all = meta.threads.map(() => new Uint8Array(meta.spans));
    const sums = meta.threads.map(() => new Float64Array(STATES.length)), met = new Set();
    for (let s = 0; s < meta.spans; s++) {
        for (let i = time.spanStart[s]; i < time.spanStart[s + 1]; i++) {
            const t = stack.thread[time.stack[i]];
            sums[t][stack.state[time.stack[i]]] += time.value[i] || time.samples[i];
            met.add(t);
        }
        for (const t of met) {
            all[t][s] = sums[t].indexOf(Math.max(...sums[t]));
            sums[t].fill(0);
        }
        met.clear();
    }
    return all;
}

/* Draw a thread's states above its curve. A span without a sample continues the one before, as
 * far as that one's samples account for the time. */
function drawStates(timeline, lane) {
    const { context, bins, span, profile } = timeline;
    if (!profile.meta.states)
        return;
    timeline.states ??= statesOfSpans(profile);
    const states = timeline.states[lane.thread.index], sums = timeline.sums[lane.thread.index];
    for (let s = bins - 1, state = 0; s >= 0; s--) {
        state = states[s] || (sums[s] ? state : 0); /* a sample covers the time before it */
        const x = timeline.x(s * span);
        context.fillStyle = STATES[state].color;
        if (state)
            context.fillRect(x, lane.y + 1, Math.max(1, timeline.x((s + 1) * span) - x), 4);
    }
}
