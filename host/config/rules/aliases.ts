import type { ConfigRule } from './rule.ts';

function eachAlias(
  id: string,
  check: (name: string, target: string, names: ReadonlySet<string>) => { message: string; fix: string } | undefined,
): ConfigRule {
  return {
    id,
    check: ({ aliases }, { report }) => {
      const names = new Set(Object.keys(aliases));
      for (const [name, target] of Object.entries(aliases)) {
        const found = check(name, target, names);
        if (found) report(name === '' ? 'aliases' : `aliases.${name}`, found.message, found.fix);
      }
    },
  };
}

export const aliasRules: readonly ConfigRule[] = [
  eachAlias('CV23', (name) =>
    name === '' ? { message: 'an alias has an empty name', fix: 'name the alias' } : undefined,
  ),
  eachAlias('CV24', (name, target) =>
    target === '' ? { message: `alias "${name}" has no target`, fix: 'write the model id it stands for' } : undefined,
  ),
  eachAlias('CV25', (name, target) =>
    name !== '' && name === target
      ? { message: `alias "${name}" points to itself`, fix: 'write the model id it stands for' }
      : undefined,
  ),
  eachAlias('CV26', (name, target, names) =>
    target !== '' && target !== name && names.has(target)
      ? {
          message: `alias "${name}" points to the alias "${target}"`,
          fix: 'point it to a model id; aliases are one hop',
        }
      : undefined,
  ),
];
