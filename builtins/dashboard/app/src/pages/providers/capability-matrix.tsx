import { ArrowRight, Ban, type LucideIcon, Repeat, SearchX } from 'lucide-react';
import { usePolled } from '../../api/polling.ts';
import type { Capabilities } from '../../api/wire.ts';
import { count } from '../../lib/format.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi } from '../../services.ts';
import { Filters, TextField } from '../../ui/form.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';

const TREATMENTS: Readonly<Record<string, { readonly name: string; readonly icon: LucideIcon }>> = {
  forward: { name: 'forward', icon: ArrowRight },
  translate: { name: 'translate', icon: Repeat },
  unsupported: { name: 'unsupported', icon: Ban },
};

/** What becomes of each chat parameter at each provider. */
export function CapabilityMatrix() {
  const api = useApi();
  const reading = usePolled<Capabilities>({
    key: ['capabilities'],
    everySeconds: 60,
    read: (signal) => api.json('/v1/capabilities', { signal }),
  });
  return (
    <Panel
      title="Chat parameters"
      description="Forwarded as they are, translated to the provider's own form, or not supported."
    >
      <Loaded reading={reading} what="Capabilities">
        {({ providers }) => <Matrix providers={providers} />}
      </Loaded>
    </Panel>
  );
}

function Matrix({ providers }: { readonly providers: Capabilities['providers'] }) {
  const [search, setSearch] = useSearch();
  const [providerText, parameterText] = [search.get('provider') ?? '', search.get('parameter') ?? ''];
  const allProviders = Object.keys(providers).toSorted();
  const allParameters = [
    ...new Set(Object.values(providers).flatMap((parameters) => Object.keys(parameters))),
  ].toSorted();
  const rows = allProviders.filter((name) => name.includes(providerText.trim().toLowerCase()));
  const columns = allParameters.filter((name) => name.includes(parameterText.trim().toLowerCase()));
  return (
    <>
      <Filters label="Filters">
        <TextField
          label="Provider"
          type="search"
          value={providerText}
          onChange={(event) => setSearch({ provider: event.target.value }, { replace: true })}
        />
        <TextField
          label="Parameter"
          type="search"
          value={parameterText}
          onChange={(event) => setSearch({ parameter: event.target.value }, { replace: true })}
        />
      </Filters>
      <p className="match-count" role="status">
        {count(rows.length, 'provider')}, {count(columns.length, 'parameter')}
      </p>
      <ul className="matrix-legend" aria-label="Treatments">
        {Object.keys(TREATMENTS).map((treatment) => (
          <li key={treatment}>
            <TreatmentMark treatment={treatment} />
          </li>
        ))}
      </ul>
      {rows.length === 0 || columns.length === 0 ? (
        <Empty icon={SearchX} title="Nothing fits">
          Try a part of a provider's or a parameter's name.
        </Empty>
      ) : (
        <div className="matrix-scroll" role="group" aria-label="Chat parameters by provider" tabIndex={0}>
          <table className="matrix">
            <thead>
              <tr>
                <th scope="col">Provider</th>
                {columns.map((parameter) => (
                  <th key={parameter} scope="col">
                    <code>{parameter}</code>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((provider) => (
                <tr key={provider}>
                  <th scope="row">{provider}</th>
                  {columns.map((parameter) => (
                    <td key={parameter}>
                      <TreatmentMark treatment={providers[provider]?.[parameter] ?? 'forward'} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

/** A treatment of a newer gateway is shown by its own name. */
function TreatmentMark({ treatment }: { readonly treatment: string }) {
  const known = Object.hasOwn(TREATMENTS, treatment) ? TREATMENTS[treatment] : undefined;
  const Icon = known?.icon;
  return (
    <span className="treatment" data-treatment={known?.name}>
      {Icon && <Icon size={13} aria-hidden="true" />}
      {known?.name ?? treatment}
    </span>
  );
}
