const last = new Map<string, Promise<unknown>>();

/** Runs `work` when every earlier work of the same key in this process has ended. */
export function oneAtATime<T>(key: string, work: () => Promise<T>): Promise<T> {
  const done = (last.get(key) ?? Promise.resolve()).then(
    () => work(),
    () => work(),
  );
  last.set(key, done);
  const forget = () => {
    if (last.get(key) === done) last.delete(key);
  };
  done.then(forget, forget);
  return done;
}
