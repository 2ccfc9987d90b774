import type { ExplainedAttempt } from '../../api/admin-wire.ts';
import type { LogEntry } from '../../api/wire.ts';
import { classText } from '../../instances/credential-text.ts';
import { count, duration } from '../../lib/format.ts';

const WIDTH = 1000;
const HEIGHT = 8;

interface Bar {
  readonly label: string;
  readonly text: string;
  readonly start: number;
  readonly length: number;
  readonly tone: 'whole' | 'ok' | 'bad';
}

/** The attempts of a request, one after the other, below the request itself. Waits between them are not recorded. */
export function Timeline({
  row,
  attempts,
}: {
  readonly row: LogEntry;
  readonly attempts: readonly ExplainedAttempt[];
}) {
  const bars = barsOf(row, attempts);
  const whole = bars.reduce((most, { start, length }) => Math.max(most, start + length), 1);
  return (
    <section aria-label="Timeline" className="timeline">
      <h3>Timeline</h3>
      <ol className="timeline-list">
        {bars.map((bar, at) => (
          <li key={`${bar.label} ${at}`} className="timeline-row">
            <span className="timeline-label">{bar.label}</span>
            <svg
              className="timeline-bar"
              viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
              preserveAspectRatio="none"
              role="img"
              aria-label={`${bar.label}: ${bar.text}`}
            >
              <rect className="timeline-track" width={WIDTH} height={HEIGHT} rx="4" />
              <rect
                className={`timeline-${bar.tone}`}
                x={(bar.start / whole) * WIDTH}
                width={Math.max(4, (bar.length / whole) * WIDTH)}
                height={HEIGHT}
                rx="4"
              />
            </svg>
            <span className="timeline-text">{bar.text}</span>
          </li>
        ))}
      </ol>
      {attempts.length > 0 && <p className="muted">{count(attempts.length, 'attempt')}.</p>}
    </section>
  );
}

function barsOf(row: LogEntry, attempts: readonly ExplainedAttempt[]): Bar[] {
  const bars: Bar[] = [];
  if (row.duration_ms !== null)
    bars.push({
      label: 'Whole request',
      text: duration(row.duration_ms),
      start: 0,
      length: row.duration_ms,
      tone: 'whole',
    });
  if (row.ttft_ms !== null)
    bars.push({
      label: 'Until the first token',
      text: duration(row.ttft_ms),
      start: 0,
      length: row.ttft_ms,
      tone: 'whole',
    });
  let start = 0;
  for (const attempt of attempts) {
    const { target, duration_ms, ended, status, via, credential, class: why } = attempt;
    const said = [ended, ended === 'answered' || status === null ? '' : `status ${status}`, why ? classText(why) : '']
      .filter(Boolean)
      .join(', ');
    const place = credential === undefined ? target : `${target}, ${credential}`;
    bars.push({
      label: via === 'responses' ? `${place} by Responses` : place,
      text: `${duration_ms === null ? 'not called' : duration(duration_ms)}, ${said}`,
      start,
      length: duration_ms ?? 0,
      tone: ended === 'answered' ? 'ok' : 'bad',
    });
    start += duration_ms ?? 0;
  }
  return bars;
}
