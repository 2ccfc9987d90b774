import { type Fields, isFields } from '../../host/contract/index.ts';

/** Paths of the tools whose arguments are to keep to their schema, those of namespaces too. */
export function strictTools(holder: Readonly<Fields>, at = ''): string[] {
  const { tools } = holder;
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown, place) => {
    if (!isFields(tool)) return [];
    const path = `${at}tools[${place}]`;
    return [...(tool['strict'] === true ? [`${path}.strict`] : []), ...strictTools(tool, `${path}.`)];
  });
}
