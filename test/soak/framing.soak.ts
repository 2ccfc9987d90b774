import { expect } from 'chai';
import { CUT_SHORT, FRAMING_CASES, SMUGGLED, UPGRADES } from '../http/framing-cases.ts';
import { statusesOf, strike } from '../http/strike.ts';
import { Dice, forSuite, rawClient, startGateway, temporaryFolder } from '../kit/index.ts';

const LONGEST_CUT_EVERYWHERE = 1000;
const CUTS = 50;
const MUTATIONS = 20_000;
const AT_ONCE = 16;

describe('requests that are framed by their own rules, for long', function framing() {
  this.timeout(600_000);
  const gateway = forSuite(async () => startGateway({ cwd: await temporaryFolder() }));

  it('are answered the same, wherever they are cut', async () => {
    const dice = new Dice(1);
    for (const one of FRAMING_CASES) {
      const { length } = one.request;
      const cuts =
        length <= LONGEST_CUT_EVERYWHERE
          ? Array.from({ length: length - 1 }, (_, at) => at + 1)
          : Array.from({ length: CUTS }, () => 1 + dice.below(length - 1));
      const expected = one.isKept ? [...one.statuses, 200] : one.statuses;
      for (let at = 0; at < cuts.length; at += AT_ONCE) {
        await Promise.all(
          cuts.slice(at, at + AT_ONCE).map(async (cut) => {
            expect(
              await strike(gateway(), one, [one.request.slice(0, cut), one.request.slice(cut)]),
              `${one.what}, cut at ${cut}`,
            ).to.deep.equal(expected);
          }),
        );
      }
    }
  });

  it('end with their client, whatever a few wrong bytes make of them', async () => {
    const originals = [
      ...FRAMING_CASES.map(({ request }) => request),
      ...Object.values(UPGRADES),
      ...Object.values(CUT_SHORT),
    ].filter(({ length }) => length < 3000 && length > 0);
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < MUTATIONS) {
        const seed = next++;
        const dice = new Dice(seed);
        const bytes = Buffer.from(dice.pick(originals).replaceAll(SMUGGLED, '/other'), 'latin1');
        for (let flips = 1 + dice.below(4); flips > 0; flips -= 1)
          bytes[dice.below(bytes.length)] = dice.pick([0, 9, 10, 13, 32, 44, 58, 59, 127, 255, dice.below(256)]);
        const client = await rawClient(gateway().url);
        client.send(bytes.toString('latin1'));
        client.socket.end();
        const statuses = statusesOf(await client.closed());
        expect(
          statuses.every((status) => status < 500 || status === 501),
          `seed ${seed}: ${statuses.join(' ')}`,
        ).to.equal(true);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  });

  it('leave the process as it was', async () => {
    const running = gateway();
    const { url, lines } = running;
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    expect(await running.stop('SIGTERM')).to.equal(0);
    expect(lines.filter(({ path }) => String(path).includes(SMUGGLED))).to.deep.equal([]);
    expect(lines.filter(({ level, msg }) => level === 'ERROR' && msg !== 'request failed')).to.deep.equal([]);
  });
});
