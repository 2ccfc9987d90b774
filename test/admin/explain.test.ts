import { expect } from 'chai';
import { ask, chatReply, replyJson, stubUpstream } from '../kit/index.ts';
import { refusal } from './kit.ts';
import { fill, forLogs, logger, read, row } from './logs-kit.ts';

forLogs('GET /admin/explain/{request_id}', (start) => {
  it('shows how a logged request was routed: alias, order, what was left out, each attempt', async () => {
    const broken = await stubUpstream((_request, response) =>
      replyJson(response, 503, { error: { message: 'broken for sk-proj-abcdefghijklmnopqrstuvwx' } }),
    );
    const whole = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const t = await start({
      strategy: { mode: 'fallback' },
      aliases: { fast: 'm' },
      plugins: logger(),
      targets: [
        { ...broken.target('a'), models: ['m'] },
        { ...broken.target('b'), models: ['other'] },
        { ...whole.target('c'), models: ['m'] },
      ],
    });
    const answer = await t.post('/v1/chat/completions', ask('hi', { model: 'fast' }));
    expect(answer.status, answer.text).to.equal(200);
    const shown = await read(t, `/admin/explain/${answer.headers.get('x-request-id')}`);
    expect(shown).to.include({
      model: 'm',
      requested_model: 'fast',
      surface: 'chat',
      streaming: false,
      strategy: 'fallback',
    });
    expect(shown.order.map(({ target }: any) => target)).to.deep.equal(['a', 'c']);
    expect(shown.dropped).to.deep.equal([{ target: 'b', reason: 'does not serve the model', figures: {} }]);
    expect(shown.attempts.map(({ target, status, ended }: any) => [target, status, ended])).to.deep.equal([
      ['a', 503, 'upstream_error'],
      ['c', 200, 'answered'],
    ]);
    expect(shown.attempts.every(({ duration_ms: ms }: any) => typeof ms === 'number')).to.equal(true);
    expect(JSON.stringify(shown)).not.to.include('sk-proj-abc');
  });

  it('shows streams, failures, and rules that matched', async () => {
    const broken = await stubUpstream((_request, response) => replyJson(response, 400, { error: { message: 'no' } }));
    const t = await start({
      strategy: { mode: 'conditional', conditions: [{ key: 'model', value: 'm', target_key: 'a' }] },
      plugins: logger(),
      targets: [broken.target('a')],
    });
    const answer = await t.post('/v1/chat/completions', ask('hi', { stream: true }));
    const shown = await read(t, `/admin/explain/${answer.headers.get('x-request-id')}`);
    expect(shown).to.include({ rule: 'conditions[0]', streaming: true });
    expect(shown.attempts.map(({ target, status }: any) => [target, status])).to.deep.equal([['a', 400]]);
    expect(shown.attempts[0].ended).not.to.equal('answered');
  });

  it('leaves out what was not recorded, and is 404 for an id without a row', async () => {
    const t = await start();
    fill(t, [row({ trace_id: 'x', target: 'a' }), row({ trace_id: 'y' })]);
    expect(await read(t, '/admin/explain/x')).to.deep.equal({ model: 'm', order: [{ target: 'a' }] });
    expect(await read(t, '/admin/explain/y')).to.deep.equal({ model: 'm' });
    for (const id of ['z', '%00', "x'--"])
      expect(refusal(await t.get(`/admin/explain/${id}`)), id).to.deep.equal([404, 'resource_not_found']);
  });

  it('costs requests nothing where no rows are written', async () => {
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const t = await start({ targets: [stub.target('a')] });
    expect(t.host.current!.hooks.route.taps.map(({ name }) => name)).not.to.include('route-records');
  });
});
