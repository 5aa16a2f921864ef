const lifetime = 24 * 3_600_000; // ms
const pause = 10_000; // ms between two attempts to replace an answer: clients must not cause more calls

interface Kept<Answer> {
  answer: Answer;
  fetchedAt: number;
  triedAt: number;
}

/** Keeps answers of issuers. Simultaneous callers share one call. */
export function keptAnswers<Answer>(fetchAnswer: (issuer: string) => Promise<Answer>) {
  const kept = new Map<string, Kept<Answer>>();
  const running = new Map<string, Promise<Answer>>();

  async function replace(issuer: string): Promise<Answer> {
    try {
      const answer = await fetchAnswer(issuer);
      kept.set(issuer, { answer, fetchedAt: Date.now(), triedAt: Date.now() });
      return answer;
    } catch (failure) {
      const old = kept.get(issuer);
      if (old) kept.set(issuer, { ...old, triedAt: Date.now() });
      throw failure;
    } finally {
      running.delete(issuer);
    }
  }

  function refresh(issuer: string): Promise<Answer> {
    const answer = running.get(issuer) ?? replace(issuer);
    running.set(issuer, answer);
    return answer;
  }

  const wasJustTried = ({ triedAt }: Kept<Answer>) => Date.now() - triedAt < pause;

  return {
    known: (issuer: string): Answer | undefined => kept.get(issuer)?.answer,
    /** Fetched once a day. If that fails, the last answer stays. @throws Error if there is none */
    async current(issuer: string): Promise<Answer> {
      const old = kept.get(issuer);
      if (!old) return refresh(issuer);
      if (Date.now() - old.fetchedAt < lifetime || wasJustTried(old)) return old.answer;
      return refresh(issuer).catch(() => old.answer);
    },
    /** Fetched at `since` or later; `null` if it may not be fetched again yet. @throws Error if that failed */
    async newest(issuer: string, since: number): Promise<Answer | null> {
      const old = kept.get(issuer);
      if (old && old.fetchedAt >= since) return old.answer;
      return !old || running.has(issuer) || !wasJustTried(old) ? refresh(issuer) : null;
    },
  };
}
