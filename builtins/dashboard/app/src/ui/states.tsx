import type { ReactNode } from 'react';
import { CircleCheck, Inbox, Info, type LucideIcon, Plug, TriangleAlert } from 'lucide-react';
import { isNotConfigured, messageOf } from '../api/api-error.ts';
import type { Reading } from '../api/polling.ts';
import { Button } from './button.tsx';
import { Contained } from './contained.tsx';
import { Failed } from './failed.tsx';

/** The three things to show in the place of data, each its own, and a banner over data that is getting old. */
export interface LoadedProps<Data> {
  readonly reading: Reading<Data>;
  /** What is being read, in the error's title: `Providers`. */
  readonly what: string;
  /** Shown in the place of a 501; without it the answer's message is. */
  readonly notConfigured?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}

export function Loaded<Data>({ reading, what, notConfigured, children }: LoadedProps<Data>) {
  const { data, error, retry } = reading;
  if (data === undefined) {
    if (error === null) return <Loading what={what} />;
    if (isNotConfigured(error))
      return (
        <Empty icon={Plug} title={`${what}: not configured`}>
          {notConfigured ?? messageOf(error)}
        </Empty>
      );
    return <Failed what={what} error={error} onRetry={retry} />;
  }
  return (
    <>
      {error !== null && <StaleBanner what={what} error={error} onRetry={retry} />}
      <Contained what={what} of={[data]} onRetry={retry}>
        <Shown data={data} show={children} />
      </Contained>
    </>
  );
}

/** Drawn inside what contains its failure. */
function Shown<Data>({ data, show }: { readonly data: Data; readonly show: (data: Data) => ReactNode }) {
  return <>{show(data)}</>;
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <div className="loading" role="status" aria-label={`Loading ${what}`}>
      <span className="skeleton" />
      <span className="skeleton" />
      <span className="skeleton" />
    </div>
  );
}

export function Empty({
  icon: Icon = Inbox,
  title,
  children,
  action,
}: {
  readonly icon?: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="state">
      <Icon className="state-icon" size={26} aria-hidden="true" />
      <p className="state-title">{title}</p>
      {children !== undefined && <div className="state-text">{children}</div>}
      {action}
    </div>
  );
}

/** Above figures that have a dash for what is not known: why it is not known, or that it is getting old. */
export function FailureBanner({
  reading: { data, error, retry },
  what,
}: {
  readonly reading: Reading<unknown>;
  readonly what: string;
}) {
  if (error === null || isNotConfigured(error)) return null;
  return (
    <Banner
      tone={data === undefined ? 'bad' : 'warn'}
      action={
        <Button size="small" onClick={retry}>
          Retry
        </Button>
      }
    >
      {what} could not be {data === undefined ? 'loaded' : 'refreshed'}: {messageOf(error)}
    </Banner>
  );
}

/** A later read failed: what is shown is the last good answer. */
export function StaleBanner({
  what,
  error,
  onRetry,
}: {
  readonly what: string;
  readonly error: unknown;
  readonly onRetry: () => void;
}) {
  return (
    <Banner
      tone="warn"
      action={
        <Button size="small" onClick={onRetry}>
          Retry
        </Button>
      }
    >
      {what} could not be refreshed: {messageOf(error)}
    </Banner>
  );
}

export type BannerTone = 'info' | 'ok' | 'warn' | 'bad';
const BANNER_ICONS: Readonly<Record<BannerTone, LucideIcon>> = {
  info: Info,
  ok: CircleCheck,
  warn: TriangleAlert,
  bad: TriangleAlert,
};

/** One sentence above what it is about. A bad one is announced at once, the others when the reader is idle. */
export function Banner({
  tone,
  action,
  children,
}: {
  readonly tone: BannerTone;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  const Icon = BANNER_ICONS[tone];
  return (
    <div
      className="banner"
      data-tone={tone}
      data-acts={action === undefined ? undefined : true}
      role={tone === 'bad' ? 'alert' : 'status'}
    >
      <Icon size={17} aria-hidden="true" />
      <div className="banner-text">{children}</div>
      {action}
    </div>
  );
}
