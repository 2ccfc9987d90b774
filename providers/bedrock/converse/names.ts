/**
 * A tool's name without the marks of a channel that gpt-oss leaves behind it, such as `tide<|channel|>commentary`: no tool is
 * called so, and the service refuses it in an earlier turn. Source: GitHub vercel/ai issue 9967, 2026-09-08.
 */
export function plainName(name: unknown): string {
  if (typeof name !== 'string') return '';
  const at = name.indexOf('<|');
  return at > 0 ? name.slice(0, at) : name;
}
