import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { MemoryKeys } from '../../host/stores/keys/memory-keys.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import { ask, cases, chatReply, Dice, eventually, startHost, stubUpstream } from '../kit/index.ts';
import { scene } from './ended-kit.ts';

const CHAT = '/v1/chat/completions';

describe('a credential that changes while it is looked up', () => {
  it('runs nothing on when it was found just before it was revoked', async () => {
    const [found, revoked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isLate = false;
    class LateKeys extends MemoryKeys {
      override async findAll(digests: readonly string[]): ReturnType<MemoryKeys['findAll']> {
        const answer = await super.findAll(digests);
        if (isLate) {
          isLate = false;
          found.resolve();
          await revoked.promise;
        }
        return answer;
      }
    }
    const s = await scene(
      {},
      {
        builtins: [
          defineBuiltin({
            name: 'late-keys',
            apply: ({ hooks }) =>
              hooks.open.tapPromise('late-keys', async ({ stores }) => stores.keys.supply('late', new LateKeys())),
          }),
        ],
      },
    );
    isLate = true;
    const sent = s.send({ path: CHAT, body: ask() });
    await found.promise;
    await s.t.host.stores.keys.revoke(s.id, 'other');
    revoked.resolve();
    expect((await sent).status).to.equal(401);
  });
});

describe('many requests of many keys', () => {
  for (let seed = 1; seed <= cases(20); seed += 1) {
    it(`end with their keys, and only with them, seed ${seed}`, async function manyRequests() {
      this.timeout(60_000);
      const dice = new Dice(seed);
      const stub = await stubUpstream(async (_request, response) => {
        await sleep(dice.below(40));
        response.end(JSON.stringify(chatReply('hello')));
      });
      const t = await startHost({ targets: [stub.target('a', { concurrency: { max_concurrency: 6 } })] });
      const { keys, sessions } = t.host.stores;
      const made = await Promise.all(
        Array.from({ length: 8 }, async (_, at) => {
          const { key, record } = await keys.create({ name: String(at), scopes: ['read_only'] });
          const { token, session } = await sessions.create({ credentialId: record.id, subject: 'x', scopes: [] });
          return { key, token, id: record.id, sessionId: session.id, isKeyOver: false, isSessionOver: false };
        }),
      );
      /** What came back, and whether its credential was over when it was sent, and when it came back. */
      const answers: { status: number; before: boolean; after: boolean }[] = [];
      const waiting: Promise<unknown>[] = [];
      for (let step = 0; step < 150; step += 1) {
        const one = dice.pick(made);
        const deed = dice.below(20);
        if (deed === 0) {
          one.isKeyOver = one.isSessionOver = true;
          await (dice.below(2) === 0 ? keys.revoke(one.id, 'other') : keys.delete(one.id, 'other'));
        } else if (deed === 1) {
          one.isSessionOver = true;
          await sessions.delete(one.sessionId);
        } else if (deed === 2) await keys.update(one.id, { name: `x${step}` }, 'other');
        else {
          const isSession = dice.below(2) === 0;
          const isOver = (): boolean => (isSession ? one.isSessionOver : one.isKeyOver);
          const before = isOver();
          waiting.push(
            t
              .post(CHAT, ask(), { authorization: `Bearer ${isSession ? one.token : one.key}` })
              .then(({ status }) => answers.push({ status, before, after: isOver() })),
          );
          if (dice.below(3) === 0) await sleep(dice.below(5));
        }
      }
      await Promise.all(waiting);
      await eventually(() => t.host.running.size === 0);
      const wrong = answers.filter(({ status, before, after }) =>
        before ? status !== 401 : after ? status !== 401 && status !== 200 : status !== 200,
      );
      expect(wrong).to.deep.equal([]);
      expect(answers.filter(({ before, after, status }) => !before && after && status === 401)).to.not.be.empty;
      expect([t.host.running.size, t.host.slot.leases]).to.deep.equal([0, 0]);
    });
  }
});
