import { expect } from 'chai';
import { NotFoundError, type OpenAI } from 'openai';
import { NAMES, withVendors } from './support/vendor-gateway.ts';
import { heard } from './support/vendors/chat.ts';
import { VENDORS } from './support/vendors/vendors.ts';

const declared = NAMES.flatMap((name) =>
  Object.keys(VENDORS[name]?.surfaces ?? {}).map((surface) => `${name}/${surface}`),
);
const live = NAMES.flatMap((name) => {
  const vendor = VENDORS[name];
  return vendor?.models ? [[name, `live${vendor.root}/model`] as const] : [];
});

describe('the openai client and the models', function suite() {
  const gateway = withVendors({ variables: { GW_MODEL_DISCOVERY_INTERVAL: '1h' } });

  /** Live lists arrive while the gateway already serves. */
  async function listed(): Promise<OpenAI.Model[]> {
    for (;;) {
      const models = await Array.fromAsync(gateway().client.models.list());
      if (live.every(([, id]) => models.some((model) => model.id === id))) return models;
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  }

  it('lists what is configured and what vendors list as live, each once', async () => {
    const models = await listed();
    const ids = models.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids).to.include.members([...declared, 'openai/dall-e', 'gpt-5.4-mini', 'meta/llama-3.1-8b-instruct']);
    for (const model of models) {
      expect(model).to.include({ object: 'model' });
      expect(model.created).to.be.a('number');
      expect(VENDORS, 'the target serves it, not whom the vendor bought it from').to.have.property(model.owned_by);
    }
    expect(gateway().vendors.refusals).to.deep.equal([]);
  });

  it('retrieves one, also by an id with slashes', async () => {
    await listed();
    const { models } = gateway().client;
    expect(await models.retrieve('gpt-5.4-mini')).to.deep.include({
      id: 'gpt-5.4-mini',
      object: 'model',
      owned_by: 'openai',
    });
    expect(await models.retrieve('together/chat')).to.deep.include({
      id: 'together/chat',
      object: 'model',
      owned_by: 'together',
      created: 0,
    });
    expect(await models.retrieve('live/studio/nothing').catch((error: unknown) => error)).to.be.instanceOf(
      NotFoundError,
    );
    expect(await models.retrieve('live/inference/v1/model')).to.deep.include({
      id: 'live/inference/v1/model',
      owned_by: 'fireworks',
      created: 1_763_700_000,
    });
  });

  it('gets an error that names the one that does not exist', async () => {
    const error = await gateway()
      .client.models.retrieve('nosuch/has-this')
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect(error).to.be.instanceOf(NotFoundError).and.to.include({ status: 404, code: 'model_not_found' });
  });

  it('asks for a model by its live name', async () => {
    await listed();
    const reply = await gateway().client.chat.completions.create({
      model: 'accounts/fireworks/models/llama-v3p1-8b-instruct',
      messages: [{ role: 'user', content: 'ahoy' }],
    });
    expect(reply.choices[0]?.message.content).to.equal(heard('fireworks', 'ahoy'));
  });
});
