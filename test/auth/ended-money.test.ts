import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, type PluginModule } from 'gw/contract';
import { systemClock } from '../../host/common/clock.ts';
import { ask, chatChunks, eventually, openSse, sseEvent, temporaryFolder } from '../kit/index.ts';
import { keyScene } from '../money/kit.ts';
import { arrived, begin, ENDED, firstOfAnswer, restOf, scene } from './ended-kit.ts';

const CHAT = '/v1/chat/completions';
const STREAM = { path: CHAT, body: ask('hi', { stream: true }) };
const CHUNKS = chatChunks(['some words that are paid for', 'and more'])
  .slice(0, 3)
  .map((chunk) => sseEvent(chunk))
  .join('');

describe('what was used of an answer whose key is revoked', () => {
  type Way = 'revoked' | 'left';

  /** Micro-dollars that a request costs which ends in its middle. */
  async function bookedWhen(way: Way, stream: boolean): Promise<{ booked: number; reserved: number }> {
    const held: ServerResponse[] = [];
    const s = await keyScene((_request, response) => {
      if (stream) {
        openSse(response);
        response.write(CHUNKS);
      }
      held.push(response);
    });
    const answer = s.send({ stream });
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    if (stream) reader = await firstOfAnswer(await answer);
    await eventually(() => held.length === 1);
    if (way === 'revoked') await s.t.host.stores.keys.revoke(s.id, 'other');
    else if (reader) await reader.cancel();
    else held[0]?.destroy();
    if (reader && way === 'revoked') await restOf(reader);
    if (!reader) await (await answer).text();
    return { booked: await s.booked(), reserved: s.reserved() };
  }

  it('is booked as that of a stream whose client left', async () => {
    const [revoked, left] = [await bookedWhen('revoked', true), await bookedWhen('left', true)];
    expect(revoked).to.deep.equal(left);
    expect(revoked.booked).to.be.above(0);
    expect(revoked.reserved).to.equal(0);
  });

  it('is nothing where no answer came', async () => {
    expect(await bookedWhen('revoked', false)).to.deep.equal({ booked: 0, reserved: 0 });
  });

  it('stands in one last row', async () => {
    const plugins = ['before_request', 'after_request', 'on_error'].map((stage) => ({
      name: 'request-logger',
      stage,
      enabled: true,
      config: { persist: true },
    }));
    const s = await scene(
      { plugins },
      {
        clock: systemClock,
        variables: {
          REQUEST_LOG_STORE_BACKEND: 'sqlite',
          REQUEST_LOG_STORE_DSN: join(await temporaryFolder(), 'rows.db'),
        },
      },
    );
    const sent = s.send(STREAM);
    begin(await arrived(s), { begun: CHUNKS });
    const reader = await firstOfAnswer(await sent);
    await s.t.host.stores.keys.revoke(s.id, 'other');
    await restOf(reader);
    const rows = async (): Promise<any[]> => (await s.t.get('/admin/logs')).json().data;
    while ((await rows()).length === 0) await sleep(20); // they are written behind
    const [last, ...others] = await rows();
    expect([others, last.stage, last.error_message, last.api_key_id]).to.deep.equal([[], 'on_error', ENDED, s.id]);
    expect(last.ttft_ms).to.be.a('number');
  });
});

describe('an answer that waits for the verdict of a plugin when its key is revoked', () => {
  function judge(verdict: Promise<void>, asked: () => void): PluginModule {
    return definePlugin({
      name: 'judge',
      type: 'guardrail',
      summary: 'Judges answers in its own time',
      stages: ['after_request'],
      settings: Joi.object({}),
      create: () => ({
        after_request: async () => {
          asked();
          await verdict;
        },
        stream: () => ({ push: (chunk) => [chunk], end: () => [], awaitsVerdict: true }),
      }),
    });
  }

  for (const stream of [true, false]) {
    it(`is not delivered, ${stream ? 'streamed' : 'whole'}`, async () => {
      const [verdict, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const s = await scene(
        { plugins: [{ name: 'judge', stage: 'after_request', enabled: true }] },
        { modules: [judge(verdict.promise, asked.resolve)] },
      );
      const sent = s.send({ path: CHAT, body: ask('hi', { stream }) });
      const { response } = await arrived(s);
      if (stream) {
        openSse(response);
        response.end([...chatChunks(['a secret']), '[DONE]'].map(sseEvent).join(''));
      } else
        response.end(
          JSON.stringify({
            choices: [{ index: 0, message: { role: 'assistant', content: 'a secret' }, finish_reason: 'stop' }],
          }),
        );
      await asked.promise;
      await s.t.host.stores.keys.revoke(s.id, 'other');
      const text = await (await sent).text();
      expect(text).to.contain(ENDED).and.not.to.contain('secret');
      verdict.resolve();
      await eventually(() => s.t.host.activity.count === 0);
    });
  }
});
