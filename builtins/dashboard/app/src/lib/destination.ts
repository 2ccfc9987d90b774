const HOME = '/overview';

/** Where to go after signing in: a path of this application, whatever the address says. */
export function returnPath(from: string | null): string {
  if (from === null || !from.startsWith('/') || /^\/[/\\]/.test(from)) return HOME;
  return /^\/login(?:$|[/?#])/.test(from) ? HOME : from;
}
