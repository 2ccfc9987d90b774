import { useEffect, useRef } from 'react';
import { MessagesSquare } from 'lucide-react';
import { Pill } from '../../../ui/pill.tsx';
import { Banner, Empty } from '../../../ui/states.tsx';
import { AttributionView } from '../attribution-view.tsx';
import type { Lane, Turn } from './use-lane.ts';

/** The turns of one conversation. What models write is text, whatever it looks like. */
export function LaneView({
  name,
  model,
  lane: { turns, failure, isRunning },
}: {
  readonly name: string;
  readonly model: string;
  readonly lane: Lane;
}) {
  const end = useRef<HTMLDivElement>(null);
  const last = turns.at(-1);
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'nearest' });
  }, [last?.answer, last?.id]);
  return (
    <section className="lane" aria-label={name}>
      <p className="lane-model">{model || 'No model'}</p>
      <div
        className="lane-turns"
        role="log"
        aria-label={`Conversation with ${model}`}
        aria-busy={isRunning}
        tabIndex={0}
      >
        {turns.length === 0 && failure === undefined && (
          <Empty icon={MessagesSquare} title="Nothing sent yet">
            Write a prompt below. It is sent with your session, and counted like any other request.
          </Empty>
        )}
        {turns.map((turn) => (
          <TurnView key={turn.id} turn={turn} />
        ))}
        {failure !== undefined && <Banner tone="bad">{failure}</Banner>}
        <div ref={end} />
      </div>
    </section>
  );
}

function TurnView({
  turn: { model, prompt, answer, state, attribution, usage, startedAt, durationMs, firstTokenMs },
}: {
  readonly turn: Turn;
}) {
  return (
    <article className="turn">
      <p className="turn-prompt">{prompt}</p>
      <div className="turn-answer">
        <p className="turn-model">
          {model}
          {state === 'running' && <span className="spinner" aria-label="Answering" role="img" />}
          {state === 'stopped' && <Pill tone="warn">stopped</Pill>}
        </p>
        <p className="turn-text">{answer}</p>
        {attribution && (
          <AttributionView
            attribution={attribution}
            usage={usage}
            startedAt={startedAt}
            durationMs={durationMs}
            firstTokenMs={firstTokenMs}
          />
        )}
      </div>
    </article>
  );
}
