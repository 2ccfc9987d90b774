import { CircleCheck, LoaderCircle, TriangleAlert } from 'lucide-react';
import type { Verdict } from './validation.ts';

const TEXTS: Readonly<Record<Verdict['kind'], string>> = {
  checking: 'Checking …',
  valid: 'The gateway would take this configuration.',
  invalid: 'The gateway would refuse this configuration:',
  unknown: 'The configuration could not be checked:',
};

/** What the gateway says of the text as it stands. */
export function VerdictView({ verdict: { kind, problems, line } }: { readonly verdict: Verdict }) {
  const Icon = kind === 'valid' ? CircleCheck : kind === 'checking' ? LoaderCircle : TriangleAlert;
  return (
    <div className="verdict" data-kind={kind} role="status">
      <p className="verdict-title">
        <Icon size={16} aria-hidden="true" />
        {TEXTS[kind]}
      </p>
      {problems.length > 0 && (
        <ul className="verdict-list">
          {problems.map((problem, at) => (
            <li key={at} className="break">
              {at === 0 && line !== undefined && !problem.includes('line') ? `Line ${line}: ` : ''}
              {problem}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
