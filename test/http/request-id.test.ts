import { expect } from 'chai';
import { defineBuiltin } from '../../host/builtin.ts';
import { readTraceContext, type TraceContext } from '../../host/common/trace-context.ts';
import { createIdSource, requestId } from '../../host/http/request-id.ts';
import { ask, chatReply, replyJson, replyStream, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const GIVEN = 'abcdef0123456789abcdef0123456789';
const NEW = 'f'.repeat(32);
const ZERO = '0'.repeat(32);
const create = (): string => NEW;

describe('request id', () => {
  const cases: [
    what: string,
    traceparent: string | undefined,
    given: string | string[] | undefined,
    expected: string,
  ][] = [
    ['a traceparent', PARENT, undefined, TRACE],
    ['a traceparent before X-Request-ID', PARENT, GIVEN, TRACE],
    ['a traceparent that is not sampled', PARENT.replace(/01$/, '00'), undefined, TRACE],
    ['a traceparent of a later version with more fields', `01-${TRACE}-00f067aa0ba902b7-01-more`, undefined, TRACE],
    ['X-Request-ID alone', undefined, GIVEN, GIVEN],
    ['X-Request-ID in upper case, folded', undefined, GIVEN.toUpperCase(), GIVEN],
    ['X-Request-ID beside a traceparent without a trace', `00-${ZERO}-00f067aa0ba902b7-01`, GIVEN, GIVEN],
    ['X-Request-ID beside a traceparent without a parent', `00-${TRACE}-0000000000000000-01`, GIVEN, GIVEN],
    ['X-Request-ID beside a traceparent of the forbidden version', `ff-${TRACE}-00f067aa0ba902b7-01`, GIVEN, GIVEN],
    ['X-Request-ID beside a traceparent of version 00 with more fields', `${PARENT}-more`, GIVEN, GIVEN],
    ['X-Request-ID beside a short traceparent', '00-abc-def-01', GIVEN, GIVEN],
    ['X-Request-ID beside two traceparents', `${PARENT}, ${PARENT}`, GIVEN, GIVEN],
    ['a new id for nothing', undefined, undefined, NEW],
    ['a new id for zeroes', undefined, ZERO, NEW],
    ['a new id for a UUID', undefined, '123e4567-e89b-12d3-a456-426614174000', NEW],
    ['a new id for a slug', undefined, 'my-request', NEW],
    ['a new id for 31 digits', undefined, GIVEN.slice(1), NEW],
    ['a new id for 33 digits', undefined, `${GIVEN}0`, NEW],
    ['a new id for 32 characters that are not hex', undefined, 'g'.repeat(32), NEW],
    ['a new id for an empty header', undefined, '', NEW],
    ['a new id for two ids', undefined, `${GIVEN}, ${GIVEN}`, NEW],
  ];
  for (const [what, traceparent, given, expected] of cases) {
    it(`takes ${what}`, () => {
      const trace = traceparent === undefined ? undefined : readTraceContext(traceparent, undefined);
      expect(requestId(trace, given, create)).to.equal(expected);
    });
  }

  it('is new each time, 32 lower-case hex digits, never zero', () => {
    const next = createIdSource();
    const ids = Array.from({ length: 2000 }, next);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^(?!0{32})[0-9a-f]{32}$/);
  });

  it('is of a span half as long', () => {
    const ids = Array.from({ length: 2000 }, createIdSource(8));
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^(?!0{16})[0-9a-f]{16}$/);
  });
});

describe('the trace of the caller', () => {
  const read = (traceparent: string, tracestate?: string): TraceContext | undefined =>
    readTraceContext(traceparent, tracestate);
  const stateOf = (tracestate: string): string | undefined => read(PARENT, tracestate)?.state;

  it('is its id, the span of the caller, the flags and the state', () => {
    expect(read(PARENT, 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE')).to.deep.equal({
      traceId: TRACE,
      parentId: '00f067aa0ba902b7',
      flags: 1,
      state: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    });
    expect(read(PARENT.replace(/01$/, 'fe'))).to.deep.equal({
      traceId: TRACE,
      parentId: '00f067aa0ba902b7',
      flags: 254,
      state: undefined,
    });
    expect(read(`cc-${TRACE}-00f067aa0ba902b7-03-what-later-versions-add`)?.flags).to.equal(3);
  });

  it('is nothing without a valid traceparent, whatever the state says', () => {
    for (const parent of [
      '',
      `00-${ZERO}-00f067aa0ba902b7-01`,
      `00-${TRACE}-0000000000000000-01`,
      `ff${PARENT.slice(2)}`,
      `${PARENT}-more`,
    ])
      expect(read(parent, 'a=1'), parent).to.equal(undefined);
  });

  it('holds at most 512 characters of state: without the long members, and then without the last', () => {
    expect([stateOf(''), stateOf(' \t'), stateOf(' a=1 , b=2 ')]).to.deep.equal([undefined, undefined, 'a=1 , b=2']);
    const whole = `a=${'x'.repeat(510)}`;
    expect(stateOf(whole)).to.equal(whole);
    expect(stateOf(`${whole}x`)).to.equal(undefined);
    const [long, short] = [`long=${'x'.repeat(124)}`, `short=${'x'.repeat(122)}`]; // 129 and 128 characters
    expect(stateOf([short, long, '', short, 'b=2', short, short].join(', '))).to.equal(
      [short, short, 'b=2', short].join(','),
    );
    expect(stateOf('a=1,'.repeat(5000)), 'of too many members, as many as there may be').to.equal(
      'a=1,'.repeat(32).slice(0, -1),
    );
  });

  it('stays on the context of the request and on its exchange', async () => {
    const seen: (TraceContext | undefined)[] = [];
    const watching = defineBuiltin({
      name: 'watching',
      apply: ({ hooks }) => {
        hooks.arrived.tap('watching', (_request, { trace }) => void seen.push(trace));
        hooks.assemble.tapPromise('watching', async ({ hooks: pipeline }) =>
          pipeline.prepare.tap('watching', ({ trace }) => void seen.push(trace)),
        );
      },
    });
    const t = await startHost(
      {
        strategy: { mode: 'fallback' },
        targets: [
          (await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')))).target('a'),
        ],
      },
      { builtins: [watching] },
    );
    await t.post('/v1/chat/completions', ask(), { traceparent: PARENT, tracestate: 'a=1' });
    await t.post('/v1/chat/completions', ask(), { tracestate: 'a=1' });
    const trace = { traceId: TRACE, parentId: '00f067aa0ba902b7', flags: 1, state: 'a=1' };
    expect(seen).to.deep.equal([trace, trace, undefined, undefined]);
  });
});

describe('X-Request-ID', () => {
  async function chatHost(): Promise<TestHost> {
    const stub = await stubUpstream((request, response) => {
      const { model, stream } = request.json();
      if (model === 'bad') replyJson(response, 500, {});
      else if (stream === true) replyStream(response, ['hi']);
      else replyJson(response, 200, chatReply('hello'));
    });
    return startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a', { models: ['m', 'bad'] })] });
  }

  it('is the trace id of every log line of the request', async () => {
    const t = await chatHost();
    for (const body of [
      ask(),
      ask('hi', { stream: true }),
      ask('hi', { model: 'bad' }),
      ask('hi', { model: 'unknown' }),
      '{',
    ]) {
      t.lines.length = 0;
      const answer = await t.post('/v1/chat/completions', body);
      const id = answer.headers.get('x-request-id');
      expect(id).to.match(/^[0-9a-f]{32}$/);
      const traced = t.lines.filter((line) => 'trace_id' in line);
      expect(traced.map(({ msg }) => msg)).to.include('http request');
      for (const line of traced) expect(line['trace_id'], line['msg']).to.equal(id);
    }
  });

  it('honours what the client sent on probes, refusals and pages that do not exist', async () => {
    const t = await chatHost();
    const answers = [
      await t.get('/livez', { traceparent: PARENT }),
      await t.get('/nowhere', { traceparent: PARENT, 'x-request-id': GIVEN }),
      await t.request('PROPFIND', '/', undefined, { traceparent: PARENT }),
      await t.request('OPTIONS', '/', undefined, { traceparent: PARENT, origin: 'https://a.example' }),
    ];
    expect(answers.map(({ headers }) => headers.get('x-request-id'))).to.deep.equal([TRACE, TRACE, TRACE, TRACE]);
    expect(
      (await t.post('/v1/chat/completions', ask(), { 'x-request-id': GIVEN.toUpperCase() })).headers.get(
        'x-request-id',
      ),
    ).to.equal(GIVEN);
  });
});
