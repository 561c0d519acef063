// trace.mjs FILE - what Chromium's DevTools read out of a file of trace events: for each
// thread and function "self total pid tid name", in ns, and marks and counters.
//
// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// NODE_PATH is not for import; require knows it.
const require = createRequire(import.meta.url);
const engine = pathToFileURL(require.resolve('@paulirish/trace_engine'));
globalThis.DOMRect ??= class DOMRect {};
const Trace = await import(engine);

const { traceEvents } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const processor = Trace.Processor.TraceProcessor.createWithAllHandlers();
await processor.parse(structuredClone(traceEvents), { isCPUProfile: false });
const { Samples } = processor.data;

const ns = (us) => Math.round(us * 1000);
for (const [pid, threads] of Samples.profilesInProcess)
  for (const [tid, { parsedProfile }] of threads) {
    const totals = new Map();
    const seen = [];
    parsedProfile.forEachFrame(
      () => {},
      (depth, node, sample, start, total, self) => {
        const name = node.functionName;
        const sum = totals.get(name) ?? { self: 0, total: 0, n: 0 };
        sum.self += self;
        sum.total += total;
        sum.n++;
        totals.set(name, sum);
        seen.push(name);
      });
    for (const [name, { self, total }] of totals)
      // The data model counts in ms.
      console.log(ns(self * 1000), ns(total * 1000), pid, tid, JSON.stringify(name));
  }
for (const event of traceEvents)
  if ('biC'.includes(event.ph))
    console.log(event.ph, JSON.stringify(event.name), JSON.stringify(event.args));
