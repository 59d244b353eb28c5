import { describe, expect, onTestFinished, test } from 'vitest';
import { COMPLETED, outcome, policyFor } from '../flows/fixtures/access.ts';
import { control, countOf, EXCEEDED } from '../flows/velocity/support.ts';
import { createUser, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { accept, BEYOND_BODIES_MS, openLogins, restore } from './support.ts';

// How much of a velocity window is left after a restore: what the backup knows of, or nothing.

const HOUR_MS = 3_600_000;
const DONE = [200, COMPLETED];

describe.each(DATABASES)('velocity windows after a restore on %s', (database) => {
  /** An organization of which a user may make two tags a day. */
  async function open() {
    const logins = await openLogins(database);
    onTestFinished(() => logins[Symbol.asyncDispose]());
    const root = (await logins.newPerson()).user;
    const user = await createUser(root, 'spender');
    await policyFor(root, user);
    const daily = { threshold: '2', window: { rolling: { duration: '24h' } } };
    const controlId = await control(root, countOf(daily));
    let made = 0;
    const spend = async (client: TestClient = user) => {
      made += 1;
      return outcome(await client.submit('create_user_tag', { userTagName: `tag ${made}`, userIds: [] }));
    };
    expect(await spend()).toEqual(DONE);
    return { logins, root, user, controlId, spend, daily };
  }

  test('keep what the backup knows of', async () => {
    const { logins, spend } = await open();
    await restore(logins.service);
    await accept(logins.service);
    logins.advance(BEYOND_BODIES_MS);
    expect(await spend()).toEqual(DONE);
    expect(await spend()).toEqual(EXCEEDED);
  });

  test('count as full where that is asked for, until they have passed the restore', async () => {
    const { logins, root, user, controlId, spend, daily } = await open();
    await restore(logins.service, { exhaust: true });
    await accept(logins.service);
    logins.advance(BEYOND_BODIES_MS);
    const answer = await user.submit('create_user_tag', { userTagName: 'no', userIds: [] });
    expect(outcome(answer)).toEqual(EXCEEDED);
    expect(answer.body.message).toMatch(/counts as full: the database was restored at 20.*\(until 20.*Z\)/);
    // The root quorum stands above controls.
    expect(await spend(root)).toEqual(DONE);
    const request = { type: 'ACTIVITY_TYPE_CREATE_USER_TAG', parameters: { userTagName: 'no', userIds: [] } };
    const { body } = await root.query('simulate_activity', { submitterUserId: user.userId, request });
    expect(body.simulation.velocity).toMatchObject([{ velocityControlId: controlId, satisfied: false }]);
    logins.advance(23 * HOUR_MS);
    expect(await spend()).toEqual(EXCEEDED);
    logins.advance(HOUR_MS);
    expect(await spend()).toEqual(DONE);
    // One without a window never passes it; made anew, it has counted everything.
    const endless = await control(root, countOf({ ...daily, threshold: '50', window: { infinite: {} } }));
    expect(await spend()).toEqual(DONE);
    await restore(logins.service, { exhaust: true });
    await accept(logins.service);
    logins.advance(48 * HOUR_MS);
    expect(await spend()).toEqual(EXCEEDED);
    await root.run('delete_velocity_control', { velocityControlId: endless });
    await control(root, countOf({ threshold: '50', window: { infinite: {} } }));
    expect(await spend()).toEqual(DONE);
  });
});
