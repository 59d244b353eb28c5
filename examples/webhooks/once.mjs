const EVENTS_MAX = 10_000;

const ANSWERS = {
  received: [200, { status: 'received' }],
  duplicate: [200, { status: 'duplicate' }],
  // It is sent again, and the first one may have failed by then.
  inWork: [503, { reason: 'in_work' }],
};

/**
 * Handles each event once, however often it is delivered, and says what to answer. An event that could not be handled is
 * forgotten: it is sent again, and then it has to count. A real receiver keeps the ids in its database, in the same
 * transaction as what it does about the events.
 */
export function createOnce(eventsMax = EVENTS_MAX) {
  const inWork = new Set();
  const handled = new Set();

  return async function once(eventId, handle) {
    if (handled.has(eventId)) return ANSWERS.duplicate;
    if (inWork.has(eventId)) return ANSWERS.inWork;
    inWork.add(eventId);
    try {
      await handle();
      handled.add(eventId);
      if (handled.size > eventsMax) handled.delete(handled.values().next().value);
    } finally {
      inWork.delete(eventId);
    }
    return ANSWERS.received;
  };
}
