import { expect } from 'chai';
import { filesIn, problemsIn } from './source.ts';
import { captureProblems, tapProblems } from './tap-rules.ts';

describe('hook taps', () => {
  const refused: readonly (readonly [path: string, source: string])[] = [
    ['builtins/a/b.ts', "hooks.assemble.tap('b', async () => {});"],
    ['builtins/a/b.ts', "pipeline.admit.tap({ name: 'b' }, (attempt) => refusal(attempt));"],
    ['builtins/a/b.ts', "pipeline.onError[surface].tapAsync('b', (exchange, done) => done());"],
    ['builtins/a/b.ts', "const { outgoing } = pipeline; outgoing.tap('b', async () => {});"],
    ['host/pipeline/run.ts', "hooks.finished.tap('run', () => {});"],
    ['host/http/body/json-body.ts', "hooks.outgoing.tapPromise('body', async (request) => request);"],
  ];
  for (const [path, source] of refused) {
    it(`refuses in ${path}: ${source}`, () => {
      expect(tapProblems(path, source)).to.have.lengthOf(1);
    });
  }

  it('allows tap on a hook that does not wait, and tapPromise on one that does', () => {
    expect(
      tapProblems(
        'builtins/a/b.ts',
        "hooks.mount.tap('b', mount); pipeline.route.tap('b', rank); hooks.open.tapPromise('b', open);",
      ),
    ).to.deep.equal([]);
  });

  it('keep nothing that their hook gave them for another tap', () => {
    expect(
      problemsIn([...filesIn('builtins'), 'host/create-host.ts', 'host/surface-builtin.ts'], captureProblems),
    ).to.deep.equal([]);
  });

  const kept: readonly string[] = [
    "let host; hooks.open.tapPromise('a', async (opened) => { host = opened; });",
    "let host; hooks.mount.tap({ name: 'a', stage: 1 }, (_router, mounted) => { if (mounted) host ??= mounted; });",
    "let stores; hooks.open.tapPromise('a', async (host) => { ({ stores } = host); });",
    "let owners; hooks.open.tapPromise('a', async ({ stores }) => { owners = stores.owners; });",
    "const held = {}; hooks.open.tapPromise('a', async (host) => { held.host = host; });",
    "let held; hooks.open.tapPromise('a', async (host) => { held = { host, at: 0 }; });",
    "let held; const keep = (host) => { held = host; }; hooks.open.tapPromise('a', async (host) => keep(host));",
    "let last; tapEventual(pipeline.admit, 'a', (attempt) => { last = attempt.target; });",
  ];
  for (const source of kept)
    it(`are refused where one keeps it: ${source}`, () => {
      expect(captureProblems('builtins/a/b.ts', source)).to.have.lengthOf(1);
    });

  it('may keep what they make of it, and write to what they were given', () => {
    const allowed = [
      "let client; hooks.open.tapPromise('a', async (host) => { client = new Client(host); });",
      "let close; hooks.open.tapPromise('a', async (host) => { close = await open(host); });",
      "pipeline.prepare.tap('a', (exchange) => { exchange.model = exchange.request.model; });",
      "pipeline.prepare.tap('a', (exchange) => { let { model } = exchange; model = exchange.user; use(model); });",
    ];
    expect(allowed.flatMap((source) => captureProblems('builtins/a/b.ts', source))).to.deep.equal([]);
  });
});
