/** What to do about a gateway that records no requests. */
export function LogsDisabled() {
  return (
    <p>
      Request logging is disabled. Set <code>REQUEST_LOG_STORE_BACKEND</code> to <code>sqlite</code> or{' '}
      <code>postgres</code>, list the <code>request-logger</code> plugin with <code>persist: true</code>, and start the
      gateway again.
    </p>
  );
}
