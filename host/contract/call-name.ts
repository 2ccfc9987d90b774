/**
 * The name of a called tool without the marks of a channel that models such as gpt-oss leave behind
 * it, as in `tide<|channel|>commentary`: no tool is called so. Empty for what is not a text.
 * Source: GitHub vercel/ai issue 9967, vllm-project/vllm pull request 23167, 2026-11-23. Only what
 * stands before the first `<|` is kept. A name that begins with it is left as it is: there would be
 * nothing left to call.
 *
 * @param name a name as the upstream sent it, of any type.
 * @returns the name to look the tool up by; it need not be the name of a tool that exists.
 */
export function plainCallName(name: unknown): string {
  if (typeof name !== 'string') return '';
  const at = name.indexOf('<|');
  return at > 0 ? name.slice(0, at) : name;
}
