import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { duration, integer, usd } from '../../lib/format.ts';
import { withQuery } from '../../lib/query-string.ts';
import { useApi } from '../../services.ts';
import { type Attribution, type Cost, readCost, type Usage } from './attribution.ts';

export interface AttributionViewProps {
  readonly attribution: Attribution;
  readonly usage: Usage | undefined;
  readonly startedAt: number;
  readonly durationMs: number | undefined;
  readonly firstTokenMs?: number | undefined;
}

/** Below an answer: who served it, how fast, for how much. */
export function AttributionView({ attribution, usage, startedAt, durationMs, firstTokenMs }: AttributionViewProps) {
  const { provider, target, model, attempts, ignored, requestId } = attribution;
  const served = [...new Set([provider, target, model])].filter(Boolean).join(' · ');
  return (
    <dl className="attribution">
      {served !== '' && <Fact name="Served by" value={served} />}
      {attempts !== undefined && attempts > 1 && <Fact name="Attempts" value={integer(attempts)} />}
      {durationMs !== undefined && <Fact name="Time" value={duration(durationMs)} />}
      {firstTokenMs !== undefined && <Fact name="First token" value={duration(firstTokenMs)} />}
      {usage?.total_tokens !== undefined && (
        <Fact
          name="Tokens"
          value={`${integer(usage.prompt_tokens)} in, ${integer(usage.completion_tokens ?? 0)} out`}
        />
      )}
      {requestId !== undefined && durationMs !== undefined && <CostFact requestId={requestId} startedAt={startedAt} />}
      {ignored !== undefined && <Fact name="Not passed on" value={ignored} />}
      {requestId !== undefined && (
        <div>
          <dt className="visually-hidden">Request</dt>
          <dd>
            <Link href={withQuery('/logs', { q: requestId })}>In the request log</Link>
          </dd>
        </div>
      )}
    </dl>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function costText(cost: Cost | undefined): string {
  if (cost === undefined) return '…';
  if (cost === 'unpriced') return 'no known price';
  return cost === 'unrecorded' ? 'not recorded' : usd(cost.usd);
}

function CostFact({ requestId, startedAt }: { readonly requestId: string; readonly startedAt: number }) {
  const api = useApi();
  const [cost, setCost] = useState<Cost>();
  useEffect(() => {
    const given = new AbortController();
    readCost(api, requestId, startedAt, given.signal).then(setCost, () => undefined);
    return () => given.abort();
  }, [api, requestId, startedAt]);
  return <Fact name="Cost" value={costText(cost)} />;
}
