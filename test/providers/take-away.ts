import type { Place } from '../../builtins/cli/modules/shipped/shipped-places.ts';

type Members = Readonly<Record<string, unknown>>;

/** The text of a place's file without one provider, and otherwise as it was. Throws where that cannot be done. */
export function takenAway(place: Place, text: string, name: string): string {
  const rest = place.names(text).filter((each) => each !== name);
  const isDone = (candidate: string): boolean => place.names(candidate).join() === rest.join();
  const candidates = place.file.endsWith('.json') ? withoutMember(text, name) : withoutLines(text, name);
  const found = candidates.findLast(isDone);
  if (found === undefined) throw new Error(`${name} cannot be taken out of ${place.file}: ${place.what}`);
  return found;
}

/** Without each member that has the provider's name, of the whole or of one of its objects. */
function withoutMember(text: string, name: string): readonly string[] {
  const all = JSON.parse(text) as Members;
  const isOf = (key: string): boolean => key === name || key.startsWith(`${name}/`);
  const without = (members: Members, key: string): Members =>
    Object.fromEntries(Object.entries(members).filter(([each]) => each !== key));
  const inner = Object.entries(all).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.keys(value)
          .filter(isOf)
          .map((member) => ({ ...all, [key]: without(value as Members, member) }))
      : [],
  );
  const outer = Object.keys(all)
    .filter(isOf)
    .map((key) => without(all, key));
  return [...outer, ...inner].map((candidate) => JSON.stringify(candidate, undefined, 1));
}

/** Without each line, and the lines of the object that it opens; and without all lines of variables of the provider. */
function withoutLines(text: string, name: string): readonly string[] {
  const lines = text.split('\n');
  const word = new RegExp(`\\b${name.replaceAll('-', '-?')}\\b`, 'i'); // the manifest lists `azureOpenai`
  const single = lines.flatMap((line, at) => {
    if (!word.test(line)) return [];
    const length = line.endsWith('{') ? lines.slice(at).findIndex((each) => /^ {2}\},?$/.test(each)) + 1 : 1;
    return [lines.toSpliced(at, length).join('\n')];
  });
  const variables = lines.filter((line) => !line.endsWith(`\` | \`${name}\` |`)).join('\n');
  return [variables, ...single];
}
