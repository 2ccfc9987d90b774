import { expect } from 'chai';
import cloudflare from '../../providers/cloudflare/index.ts';
import { failedReply, rootOf } from '../kit/index.ts';
import { itForwardsChat, itForwardsEmbeddings, itServes } from './support.ts';

describe('cloudflare', () => {
  itServes(cloudflare, 'https://api.cloudflare.com/client/v4/accounts/key/ai/v1', ['chat', 'embeddings'], {
    passthrough: true,
    responses: true,
    anyModel: true,
  });
  itForwardsChat(cloudflare);
  itForwardsEmbeddings(cloudflare);

  it('has the account in its root, and only there', async () => {
    expect(await rootOf(cloudflare, { CLOUDFLARE_ACCOUNT_ID: 'a/b' })).to.equal(
      'https://api.cloudflare.com/client/v4/accounts/a%2Fb/ai/v1',
    );
    expect(await rootOf(cloudflare, { CLOUDFLARE_BASE_URL: 'http://h:1' })).to.equal('http://h:1/v1');
  });

  it('reads the messages of its error bodies, and leaves other bodies to the host', () => {
    const said = (body: unknown): unknown => cloudflare.toFault?.(failedReply(body));
    expect(
      said({
        success: false,
        result: {},
        errors: [
          { code: 5007, message: 'No such model' },
          { code: 1, message: ' again ' },
        ],
      }),
    ).to.deep.equal({ message: 'No such model; again' });
    for (const body of [
      { errors: [] },
      { errors: [null, { message: 4 }] },
      { errors: 'x' },
      { error: { message: 'm' } },
      [],
    ])
      expect(said(body), JSON.stringify(body)).to.equal(undefined);
  });
});
