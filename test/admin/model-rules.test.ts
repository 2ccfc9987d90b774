import { expect } from 'chai';
import { as, NOBODY, refusal, startAdmin } from './kit.ts';

describe('GET /admin/rules', () => {
  it('says what is known of a model, and which rule says it', async () => {
    const t = await startAdmin();
    const reader = as((await t.makeKey({ scopes: ['read_only'] })).key);
    const answer = await t.get('/admin/rules?provider=openai&model=gpt-5.6-sol', reader);
    expect(answer.status, answer.text).to.equal(200);
    const { efforts, summaries } = answer.json().facts;
    expect(efforts).to.deep.include({ value: ['none', 'low', 'medium', 'high', 'xhigh'], rule: 'openai-5.6' });
    expect(efforts.source.every((page: string) => page.startsWith('https://'))).to.equal(true);
    expect(efforts.checked).to.match(/^2026-\d\d-\d\d$/);
    expect(summaries.rule).to.equal('openai-family');
  });

  it('says of a target what its requests have: its configuration wins', async () => {
    const t = await startAdmin(undefined, {
      targets: [{ virtual_key: 'echo', model_facts: [{ models: ['echo'], set: { efforts: ['low'] } }] }],
    });
    expect((await t.get('/admin/rules?provider=echo&model=echo')).json().facts).to.deep.equal({
      efforts: { value: ['low'], rule: 'targets[].model_facts', source: [], checked: '' },
    });
    expect((await t.get('/admin/rules?provider=echo&model=other')).json()).to.deep.equal({ facts: {} });
  });

  it('needs provider and model, a provider that is known, and a credential', async () => {
    const t = await startAdmin();
    for (const query of ['', '?provider=openai', '?model=gpt-4o', '?provider=&model=x', '?provider=opnai&model=x'])
      expect(refusal(await t.get(`/admin/rules${query}`)), query).to.deep.equal([400, 'invalid_request']);
    expect((await t.get('/admin/rules?provider=openai&model=x', NOBODY)).status).to.equal(401);
  });
});
