import { expect } from 'chai';
import { FAULT_NAMES, fakeClock, faultUpstream, startHost } from '../kit/index.ts';
import { expectWhole, readOutcome, verdictOf } from './support/map.ts';
import { ASK_NAMES, askFor, tagOf } from './support/surfaces.ts';

/** Longer than any bound of the gateway's. */
const FOREVER_MS = 130_000;

describe('every fault on every routed surface', () => {
  for (const fault of FAULT_NAMES) {
    it(`is answered as the error map says: ${fault}`, async () => {
      const clock = fakeClock();
      const begun = { current: Promise.withResolvers<void>() };
      const upstream = await faultUpstream({
        script: () => ({ fault, wait_ms: 3 }),
        seed: 11,
        keyOf: ({ text }) => tagOf(text),
        onHang: ({ answer, step }) => {
          const isBegun =
            answer?.surface === 'speech'
              ? /^(stall|endless)$/.test(step.fault)
              : step.fault === 'stall' && answer?.isStream === true;
          void (
            isBegun
              ? begun.current.promise
              : new Promise((resolve) => {
                  setTimeout(resolve, 10);
                })
          ).then(() => clock.advance(FOREVER_MS));
        },
      });
      const host = await startHost(
        {
          strategy: { mode: 'single' },
          request_timeout: '60s',
          streaming: { open_after: 'off' },
          targets: [upstream.target('a')],
        },
        { clock },
      );
      for (const ask of ASK_NAMES) {
        begun.current = Promise.withResolvers<void>();
        const outcome = await askFor(ask, { url: host.url, tag: `tag-${ask}`, onData: begun.current.resolve });
        const played = upstream.played.at(-1)!;
        const { message: _message, ...wanted } = { message: undefined, ...verdictOf(played) };
        expect({ ask, ...readOutcome(ask, outcome) }).to.deep.equal({ ask, ...wanted });
        if (wanted.kind === 'answer') expectWhole(ask, outcome, played);
        expect([outcome.headers['x-gateway-target'], outcome.headers['x-gateway-attempts']]).to.deep.equal(['a', '1']);
      }
      expect(upstream.played).to.have.length(ASK_NAMES.length);
    });
  }
});
