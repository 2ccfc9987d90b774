import type { ExplainedPlace, ExplainedTarget, Explanation } from '../../api/wire.ts';
import { CredentialChip } from '../../instances/credential-chip.tsx';
import { duration, usd } from '../../lib/format.ts';
import { Pill, type Tone } from '../../ui/pill.tsx';
import { Banner } from '../../ui/states.tsx';
import './routing.css';

const CIRCUITS: Readonly<Record<string, Tone>> = { closed: 'ok', 'half-open': 'warn', open: 'bad' };

/** What the gateway decided, or would decide, about the route of one request. */
export function ExplanationView({ explanation }: { readonly explanation: Explanation }) {
  const { refusal, order, dropped, plugins, notes } = explanation;
  return (
    <>
      {refusal && (
        <Banner tone="bad">
          <b>{refusal.code}</b>: {refusal.message}
        </Banner>
      )}
      <Facts explanation={explanation} />
      {order.length > 0 && (
        <section className="stack">
          <h3 className="explain-title">
            {explanation.on_failure === 'next target' ? 'Tried in this order' : 'Target'}
          </h3>
          <ol className="explain-order">
            {order.map((target, at) => (
              <OrderedTarget key={`${target.route ?? target.target} ${target.via}`} target={target} place={at + 1} />
            ))}
          </ol>
        </section>
      )}
      {dropped.length > 0 && (
        <section className="stack">
          <h3 className="explain-title">Left out</h3>
          <ul className="explain-order">
            {dropped.map((target) => (
              <li key={`${target.route ?? target.target} ${target.via}`} className="explain-target">
                <span className="row">
                  <b className="break">{target.route ?? target.target}</b>
                  {target.via !== undefined && <Pill>fallback {target.via}</Pill>}
                </span>
                <span className="muted">
                  {target.reason}
                  <Figures of={target} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {plugins.length > 0 && (
        <section className="stack">
          <h3 className="explain-title">Plugins, in their order</h3>
          <p className="row">
            {plugins.map(({ name, stage }) => (
              <Pill key={`${name} ${stage}`}>
                {name} · {stage}
              </Pill>
            ))}
          </p>
        </section>
      )}
      {notes.map((note) => (
        <Banner key={note} tone="info">
          {note}
        </Banner>
      ))}
    </>
  );
}

function Facts({ explanation }: { readonly explanation: Explanation }) {
  const { strategy, on_failure, model, requested_model, rule, condition, ab_label, group } = explanation;
  return (
    <dl className="definitions">
      <dt>Model</dt>
      <dd>
        {model}
        {requested_model !== model && <span className="muted"> (asked for as {requested_model})</span>}
      </dd>
      {group && (
        <>
          <dt>Group</dt>
          <dd>
            {group.name}
            {group.matched === 'prefix' && <span className="muted"> (by how the name begins)</span>}
            {group.fallbacks.length > 0 && <span className="muted">, then {group.fallbacks.join(', ')}</span>}
          </dd>
        </>
      )}
      <dt>Strategy</dt>
      <dd>
        {strategy}; on failure: {on_failure}
      </dd>
      {rule !== null && (
        <>
          <dt>Rule</dt>
          <dd>
            <code>{rule}</code>
            {condition && (
              <span className="muted">
                {' '}
                {Object.entries(condition)
                  .map(([name, value]) => `${name} = ${value}`)
                  .join(', ')}
              </span>
            )}
          </dd>
        </>
      )}
      {ab_label !== null && (
        <>
          <dt>Variant</dt>
          <dd>{ab_label}</dd>
        </>
      )}
      <SessionFacts explanation={explanation} />
    </dl>
  );
}

/** Which session it is, and where that belongs. */
function SessionFacts({ explanation: { affinity, bound } }: { readonly explanation: Explanation }) {
  return (
    <>
      {affinity && (
        <>
          <dt>Session</dt>
          <dd>
            {affinity.digest} <span className="muted">by {affinity.source}</span>
            {affinity.home && <>, at home at {placeText(affinity.home)}</>}
            {affinity.override && <>, moved to {placeText(affinity.override)}</>}
          </dd>
        </>
      )}
      {bound && (
        <>
          <dt>Bound to</dt>
          <dd>{placeText(bound)}</dd>
        </>
      )}
    </>
  );
}

/** `openai-eu@gpt-5, credential spare`. */
function placeText({ target, route, credential, vendor_account }: ExplainedPlace): string {
  const account = vendor_account === undefined ? '' : `vendor account ${vendor_account}`;
  return [route ?? target, credential === undefined ? account : `credential ${credential}`].filter(Boolean).join(', ');
}

function OrderedTarget({ target, place }: { readonly target: ExplainedTarget; readonly place: number }) {
  const { circuit, upstream_model, provider, kind = provider, reason, attempt, route, via, credentials = [] } = target;
  return (
    <li className="explain-target">
      <span className="row">
        <span className="explain-place">{place}</span>
        <b className="break">{route ?? target.target}</b>
        {kind !== target.target && <span className="muted">{kind}</span>}
        {via !== undefined && <Pill>fallback {via}</Pill>}
        {circuit && (
          <Pill tone={CIRCUITS[circuit] ?? 'neutral'} hasDot>
            circuit {circuit}
          </Pill>
        )}
      </span>
      <span className="muted">
        {upstream_model && (
          <>
            <code className="break">{upstream_model}</code>,{' '}
          </>
        )}
        {reason}
        {attempt?.via === 'responses' && <>, by the Responses API ({attempt.via_reason})</>}
        <Figures of={target} />
      </span>
      {credentials.length > 0 && (
        <ul className="row" aria-label={`Credentials of ${target.target}`}>
          {credentials.map((credential) => (
            <li key={credential.name} className="row">
              <CredentialChip credential={credential} />
              {credential.first && <span className="muted">called first</span>}
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function figureText(name: string, value: number | string | null): string {
  if (typeof value !== 'number') return `${name}: ${value ?? '–'}`;
  if (name.endsWith('_ms')) return `${name.slice(0, -3)} ${duration(value)}`;
  if (name.endsWith('_usd')) return `${name.slice(0, -4)} ${usd(value)}`;
  return `${name} ${value}`;
}

function Figures({ of: { figures } }: { readonly of: ExplainedTarget }) {
  const texts = Object.entries(figures).map(([name, value]) =>
    figureText(name.replaceAll('_', ' ').replace(/ (ms|usd)$/, '_$1'), value),
  );
  return texts.length === 0 ? null : <> ({texts.join(', ')})</>;
}
