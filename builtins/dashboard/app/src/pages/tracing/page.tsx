import { CodeBlock } from '../../ui/copy.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Banner } from '../../ui/states.tsx';
import { BACKENDS } from './snippets.ts';

export default function TracingPage() {
  return (
    <Page
      title="Tracing"
      description="Each request is a span of OpenTelemetry, with its routing, its attempts, tokens and cost. Copy the part that sends them to your backend."
    >
      <Banner tone="info">
        Traces are read from the configuration when the gateway starts: a change here takes hold with the next start.
        Prompts and answers leave only with <code>privacy_level: full</code>.
      </Banner>
      {BACKENDS.map(({ name, about, snippet }) => (
        <Panel key={name} title={name} description={about}>
          <CodeBlock label={`Configuration for ${name}`} text={snippet} />
        </Panel>
      ))}
    </Page>
  );
}
