import { ArrowRight, Check } from 'lucide-react';
import { Link } from 'wouter';
import { usePolled } from '../../api/polling.ts';
import type { Dashboard } from '../../api/wire.ts';
import { count } from '../../lib/format.ts';
import { useApi } from '../../services.ts';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Banner, Loaded } from '../../ui/states.tsx';
import './getting-started.css';

interface Step {
  readonly title: string;
  readonly text: string;
  readonly link: readonly [path: string, label: string];
  /** Nothing for a step that is only suggested: whether it was taken is not known. */
  readonly isDone: boolean | undefined;
}

function stepsOf({ providers, keys, request_logs }: Dashboard): readonly Step[] {
  return [
    {
      title: 'Connect a provider',
      link: ['/providers', 'Open Providers'],
      isDone: providers.available > 0,
      text:
        providers.available > 0
          ? `${count(providers.available, 'provider')} available.`
          : 'Set the environment variables of a provider and start the gateway again.',
    },
    {
      title: 'Create an API key',
      link: ['/keys', 'Open API Keys'],
      isDone: keys.total > 0,
      text:
        keys.total > 0
          ? `${count(keys.total, 'key')} created.`
          : 'Applications call the gateway with a key of their own, which you can limit and revoke.',
    },
    {
      title: 'Send a prompt',
      link: ['/playground', 'Open the Playground'],
      isDone: undefined,
      text: 'Try a model, or two side by side, and see who served it and what it cost.',
    },
    {
      title: 'See your requests',
      link: ['/logs', 'Open Request Logs'],
      isDone: request_logs.total > 0,
      text: request_logs.enabled
        ? request_logs.total > 0
          ? `${count(request_logs.total, 'request')} recorded.`
          : 'Requests show up here as they finish.'
        : 'Set REQUEST_LOG_STORE_BACKEND and list the request-logger plugin with "persist: true" to record requests.',
    },
  ];
}

export default function GettingStartedPage() {
  const api = useApi();
  const reading = usePolled<Dashboard>({
    key: ['dashboard'],
    read: (signal) => api.json('/admin/dashboard', { signal }),
  });
  return (
    <Page title="Getting Started" description="Four steps from an empty gateway to requests that you can see.">
      <Panel title="Set up your gateway">
        <Loaded reading={reading} what="Progress">
          {(dashboard) => <Steps steps={stepsOf(dashboard)} />}
        </Loaded>
      </Panel>
    </Page>
  );
}

function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const counted = steps.filter(({ isDone }) => isDone !== undefined);
  const done = counted.filter(({ isDone }) => isDone).length;
  return (
    <>
      <div className="progress">
        <label htmlFor="setup-progress">
          {done} of {counted.length} steps done
        </label>
        <progress id="setup-progress" className="progress-bar" value={done} max={counted.length} />
      </div>
      {done === counted.length && (
        <Banner tone="ok">Everything is set up: providers answer, keys exist and requests are recorded.</Banner>
      )}
      <ol className="steps">
        {steps.map((step, at) => (
          <StepItem key={step.title} step={step} place={at + 1} />
        ))}
      </ol>
    </>
  );
}

function StepItem({
  step: {
    title,
    text,
    link: [path, label],
    isDone,
  },
  place,
}: {
  readonly step: Step;
  readonly place: number;
}) {
  return (
    <li className="step" data-done={isDone || undefined}>
      <span className="step-mark">
        {isDone ? <Check size={16} aria-hidden="true" /> : place}
        <span className="visually-hidden">{isDone ? 'Done:' : ''}</span>
      </span>
      <div>
        <h3 className="step-title">{title}</h3>
        <p className="muted">{text}</p>
      </div>
      <Link className="step-link" href={path}>
        {label}
        <ArrowRight size={15} aria-hidden="true" />
      </Link>
    </li>
  );
}
