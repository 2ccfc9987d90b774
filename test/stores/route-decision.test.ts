import { expect } from 'chai';
import { type Fields, parseJson } from '../../host/contract/index.ts';
import { shippedRedactor } from '../kit/redactor.ts';
import { givenRow, storedRow } from '../../host/stores/log/log-row.ts';
import { type DecisionMembers, RouteDecision, shownDecision } from '../../host/stores/log/route-decision.ts';

const USUAL: DecisionMembers = {
  model: 'm',
  requested_model: 'm',
  surface: 'chat',
  streaming: false,
  strategy: 'single',
  rule: null,
  ab_label: null,
  order: [{ target: 'a', reason: 'by the strategy', figures: {}, provider: 'a', upstream_model: 'm' }],
  dropped: [],
  attempts: [{ target: 'a', upstream_model: 'm', status: 200, duration_ms: 12.345, ended: 'answered' }],
};
const UNUSUAL: DecisionMembers = {
  model: 'm',
  requested_model: 'fast',
  surface: 'embeddings',
  streaming: true,
  strategy: 'ab-test',
  rule: 'conditions[0]',
  ab_label: 'B',
  unroutable: 'none is left',
  order: [{ target: 'a', reason: 'cheapest', figures: { usd: 0.5, rank: 1 }, provider: 'p', upstream_model: 'm-2024' }],
  dropped: [
    { target: 'b', reason: 'does not serve the model', figures: {} },
    { target: 'c', reason: 'left out', figures: { usd: 2 } },
  ],
  attempts: [
    { target: 'a', upstream_model: 'm-2024', status: null, duration_ms: null, ended: 'circuit_open', message: 'open' },
    {
      target: 'a',
      upstream_model: 'm-2024',
      status: 503,
      duration_ms: 0,
      ended: 'upstream_error',
      via: 'responses',
      message: 'no',
    },
  ],
};
const redactor = shippedRedactor({});
const shortOf = (members: DecisionMembers): Readonly<Fields> =>
  parseJson(new RouteDecision(members).shortText((text) => redactor.redact(text))) as Fields;

describe('a decision in a row of the request log', () => {
  it('is shown with all that its short form left out', () => {
    for (const members of [USUAL, UNUSUAL, { ...UNUSUAL, order: [], attempts: [] }])
      expect(shownDecision(shortOf(members))).to.deep.equal(members);
  });

  it('is short where all is as usual', () => {
    expect(shortOf(USUAL)).to.deep.equal({
      model: 'm',
      strategy: 'single',
      order: [{ target: 'a' }],
      attempts: [{ target: 'a', status: 200, duration_ms: 12.345 }],
    });
  });

  it('is an object of plain members for modules', () => {
    expect(parseJson(JSON.stringify(new RouteDecision(UNUSUAL)))).to.deep.equal(UNUSUAL);
    expect(Object.keys(new RouteDecision(USUAL))).to.have.members(Object.keys(USUAL));
  });

  it('holds no credential that came with a request, an upstream or a strategy', () => {
    const secret = 'sk-proj-abcdefghijklmnopqrstuvwx';
    const planted: DecisionMembers = {
      ...UNUSUAL,
      model: secret,
      requested_model: `x${secret}`,
      rule: secret,
      ab_label: secret,
      unroutable: secret,
      order: [
        {
          ...UNUSUAL.order[0]!,
          reason: secret,
          upstream_model: `y${secret}`,
          figures: { [secret]: 1, note: secret as unknown as number },
        },
      ],
      dropped: [{ target: 'b', reason: secret, figures: { note: secret as unknown as number } }],
      attempts: [{ ...UNUSUAL.attempts[0]!, upstream_model: `z${secret}`, message: secret }],
    };
    const text = storedRow(
      givenRow(
        { trace_id: 't', stage: 'on_error', model: 'm', created_at: 1, decision: new RouteDecision(planted) },
        redactor,
      ),
    ).decision;
    expect(text).to.include('[REDACTED').and.not.include('abcdefghijkl');
    const made = storedRow(
      givenRow(
        { trace_id: 't', stage: 'on_error', model: 'm', created_at: 1, decision: { mine: [{ deep: secret }] } },
        redactor,
      ),
    ).decision;
    expect(made).to.equal('{"mine":[{"deep":"[REDACTED_OPENAI_KEY]"}]}');
  });

  it('that an earlier version or a module wrote is shown as it stands', () => {
    expect(shownDecision({ ...USUAL })).to.deep.equal(USUAL);
    expect(shownDecision({ mine: [1], order: null })).to.deep.equal({ mine: [1], order: null });
    expect(shownDecision({ model: 'm', strategy: 'single', order: ['x', null], attempts: 1 })).to.deep.include({
      order: [],
      dropped: [],
      attempts: [],
    });
  });
});
