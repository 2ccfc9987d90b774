import { expect } from 'chai';
import { Dice, forSuite, rawClient, startGateway, temporaryFolder } from '../kit/index.ts';
import { CUT_SHORT, FRAMING_CASES, SMUGGLED, UPGRADES } from './framing-cases.ts';
import { LAST, statusesOf, strike } from './strike.ts';

describe('a request that is framed by its own rules', function framing() {
  const gateway = forSuite(async () => startGateway({ cwd: await temporaryFolder() }));
  const dice = new Dice(9112);

  for (const one of FRAMING_CASES) {
    it(`is ${one.statuses.join(', ')}${one.isKept ? '' : ', and the last of its connection'}: ${one.what}`, async () => {
      const expected = one.isKept ? [...one.statuses, 200] : one.statuses;
      const cut = 1 + dice.below(Math.max(one.request.length - 1, 1));
      for (const pieces of [[one.request], [one.request.slice(0, cut), one.request.slice(cut)]]) {
        expect(await strike(gateway(), one, pieces), `in ${pieces.length}, cut at ${cut}`).to.deep.equal(expected);
      }
    });
  }

  for (const [what, request] of Object.entries(UPGRADES)) {
    it(`is served as any other when it asks for another protocol: ${what}`, async () => {
      const client = await rawClient(gateway().url);
      for (let round = 1; round <= 3; round += 1) {
        client.send(request);
        while (statusesOf(client.received()).length < round || !client.received().endsWith('}'))
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
      }
      client.send(LAST);
      expect(statusesOf(await client.closed())).to.deep.equal([200, 200, 200, 200]);
    });
  }

  for (const [what, request] of Object.entries(CUT_SHORT)) {
    it(`ends with its client when it stops in the middle: ${what}`, async () => {
      const client = await rawClient(gateway().url);
      if (request !== '') client.send(request);
      client.socket.end();
      expect(statusesOf(await client.closed()).filter((status) => status !== 100 && status !== 400)).to.deep.equal([]);
    });
  }

  it('leaves the process as it was, and nothing of what it hid was served', async () => {
    const running = gateway();
    const { url, lines } = running;
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    expect(await running.stop('SIGTERM')).to.equal(0);
    expect(lines.filter(({ path }) => String(path).includes(SMUGGLED))).to.deep.equal([]);
    expect(lines.filter(({ level }) => level === 'ERROR')).to.deep.equal([]);
  });
});
