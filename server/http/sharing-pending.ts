/** Returns a function that calls `read`, unless the promise of its last call is pending: then it returns that. */
export function sharingPending<T>(read: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => {
    pending ??= read().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}
