import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyPair, newKeyPair } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { type Caller, outcome } from '../fixtures/access.ts';
import { LoginService } from '../fixtures/logins.ts';

const MINUTE = 60_000;

// Through a parent's id a key finds the oldest sub-organization where it has stamped; copies elsewhere must not
// compete.
describe.each(databasesOf(import.meta.url))('a session key that is renewed on %s', (database) => {
  let logins: LoginService;
  beforeAll(async () => {
    logins = await LoginService.open(database);
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const newRoot = async (): Promise<Caller> => (await logins.newPerson()).user;
  const logIn = (client: Caller, { publicKey }: KeyPair) =>
    client.run('stamp_login', { publicKey, expirationSeconds: '86400' });
  const copy = ({ publicKey }: KeyPair, into: Caller) =>
    into.run('create_api_keys', {
      userId: into.userId,
      apiKeys: [{ apiKeyName: 'Copy', publicKey, curveType: 'API_KEY_CURVE_P256' }],
    });
  const whoami = (client: Caller) => client.query('whoami');
  /** Which organization the key finds through the parent's id. */
  const found = async (key: KeyPair) => {
    const answer = await whoami(logins.client(logins.parent.organizationId, key));
    return answer.status === 200 ? answer.body.organizationId : outcome(answer);
  };

  /** A session that has stamped a request at home. */
  async function proven() {
    const [home, elsewhere, key] = [await newRoot(), await newRoot(), newKeyPair()];
    await logIn(home, key);
    const session = home.as(key, home.userId);
    expect((await whoami(session)).status).toBe(200);
    return { home, elsewhere, key, session };
  }

  test('is found where it was before', async () => {
    const { home, key, session } = await proven();
    expect(await found(key)).toBe(home.organizationId);
    await logIn(session, key);
    logins.advance(16 * MINUTE);
    expect(await found(key)).toBe(home.organizationId);
  });

  test('is found also where a copy is registered elsewhere right after', async () => {
    const { home, elsewhere, key, session } = await proven();
    await logIn(session, key);
    await copy(key, elsewhere);
    expect(await found(key)).toBe(home.organizationId);
  });

  test('is found also where a copy that was there before has stamped too', async () => {
    const { home, elsewhere, key, session } = await proven();
    await copy(key, elsewhere);
    expect((await whoami(elsewhere.as(key, elsewhere.userId))).status).toBe(200);
    expect(await found(key)).toBe(home.organizationId);
    logins.advance(MINUTE);
    await logIn(session, key);
    expect(await found(key)).toBe(home.organizationId);
  });

  test('shows its age, and how long it lasts since then', async () => {
    const { key, session } = await proven();
    const shown = async () =>
      (await session.query('get_api_keys', { userId: session.userId })).body.apiKeys.find(
        ({ credential }: { credential: { publicKey: string } }) => credential.publicKey === key.publicKey,
      );
    const before = await shown();
    logins.advance(10 * MINUTE);
    await logIn(session, key);
    const after = await shown();
    expect(after.createdAt).toEqual(before.createdAt);
    expect(Number(after.expirationSeconds)).toBeGreaterThanOrEqual(86_400 + 600);
    expect(Number(after.expirationSeconds)).toBeLessThan(86_400 + 700);
  });

  test('one that never stamped has no history to keep', async () => {
    const [home, elsewhere, key] = [await newRoot(), await newRoot(), newKeyPair()];
    await logIn(home, key);
    logins.advance(16 * MINUTE);
    await logIn(home, key);
    expect(await found(key)).toBe(home.organizationId);
    const other = newKeyPair();
    await logIn(home, other);
    await copy(other, elsewhere);
    expect(await found(other)).toEqual([401, 'CREDENTIAL_CONFLICT']);
  });
});
