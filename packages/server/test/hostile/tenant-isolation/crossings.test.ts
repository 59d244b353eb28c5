import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ActivityOperation, Operation } from '../../../src/engine/define.ts';
import { randomId } from '../../../src/lib/ids.ts';
import { activities, operations, pathOf, queries } from '../../../src/registry.ts';
import { newEmail, newLogin, newVerification } from '../../fixtures/outside.ts';
import {
  createSubOrganization,
  createUser,
  newKeyPair,
  send,
  stampFor,
  type TestClient,
} from '../../harness/client.ts';
import { DATABASES, databasesOf } from '../../harness/databases.ts';
import { caseFor, casesOf } from '../../operations/all-cases.ts';
import type { Tenant } from '../../operations/tenant.ts';
import { expectRefusal, outward } from '../answers.ts';
import { type Version, versionsOf } from '../schema.ts';
import { inParallel } from '../wire.ts';
import { withPasskey, withSession } from '../world.ts';
import { expectSuccess, openTenants, parametersOf, request, runsIn } from './support.ts';

/** What is answered about things of others. */
const UNKNOWN_THINGS: ReadonlySet<string> = new Set([
  'INVALID_OTP_CODE',
  'INVALID_VERIFICATION_TOKEN',
  'RESOURCE_NOT_FOUND',
  'WEBHOOK_ENDPOINT_NOT_FOUND',
]);

/** What users do to themselves alone, and need nobody's leave for. */
const OWN_BUSINESS: ReadonlySet<string> = new Set(['create_read_only_session', 'stamp_login']);
describe.each(DATABASES)('tenant isolation on %s', (database) => {
  const suite = openTenants(database);
  const { expectChangedOnly, expectNoChange } = suite;

  // Of these, every operation is decided before the database is asked for what it is about.
  const testHere = databasesOf(import.meta.url).includes(database) ? test : undefined;

  testHere?.('a user without rights leaves a refusal in its own organization and nothing else', async () => {
    const requests: (readonly [ActivityOperation, Version, Record<string, unknown>])[] = [];
    for (const operation of activities.filter(({ name }) => !OWN_BUSINESS.has(name))) {
      const [version] = versionsOf(operation) as [Version];
      const { parameters } = await caseFor(operation.name, suite.second);
      requests.push([operation, version, parametersOf(version, parameters)]);
    }
    const watch = await suite.world.watch();
    for (const [operation, version, parameters] of requests) {
      const answer = await request(suite.first.member, operation, version, parameters);
      // What a request is about is looked up before anybody is asked; what is foreign is then simply not there.
      const isLookedUp = operation.describe && UNKNOWN_THINGS.has(answer.body.errorCode);
      const denied = isLookedUp ? answer.body.errorCode : 'REQUEST_NOT_AUTHORIZED';
      expectRefusal(answer, runsIn(operation, suite.first) ? denied : 'INVALID_ACTIVITY_CALLER');
    }
    for (const change of await watch.changes()) {
      expect(change).toMatch(/^\+ (?:activity|vote|policy_evaluation) /);
      expect(change).toContain(`["organization_id","${suite.first.ids.organization}"]`);
    }
  });

  test('what is a user’s own business changes its own organization and no other', async () => {
    for (const operation of activities.filter(({ name }) => OWN_BUSINESS.has(name))) {
      const [version] = versionsOf(operation) as [Version];
      const { parameters } = await caseFor(operation.name, suite.second);
      const watch = await suite.world.watch();
      expectSuccess(
        operation,
        await request(suite.first.member, operation, version, parametersOf(version, parameters)),
      );
      expectChangedOnly(await watch.changes(), [suite.first]);
    }
  });

  test('a signature holds for one organization id', async () => {
    const body = JSON.stringify({ organizationId: suite.first.ids.organization });
    const headers = { 'x-stamp': stampFor(Buffer.from(body), suite.first.root.key) };
    const path = '/public/v1/query/get_organization';
    expect((await send(suite.first.root.baseUrl, path, body, headers)).status).toBe(200);
    await expectNoChange(async () => {
      for (const { ids } of [suite.second, suite.parent, suite.other]) {
        const moved = JSON.stringify({ organizationId: ids.organization });
        expectRefusal(await send(suite.first.root.baseUrl, path, moved, headers), 'PUBLIC_KEY_NOT_FOUND');
      }
      // The parent's key is known in the child, so there only the signature stands in the way.
      const parents = JSON.stringify({ organizationId: suite.parent.ids.organization });
      const stamp = { 'x-stamp': stampFor(Buffer.from(parents), suite.parent.root.key) };
      expect((await send(suite.first.root.baseUrl, path, parents, stamp)).status).toBe(200);
      expectRefusal(await send(suite.first.root.baseUrl, path, body, stamp), 'SIGNATURE_INVALID');
    });
  });

  test('a captured submit runs under its own path only', async () => {
    const { client, parameters } = await caseFor('update_user_name', suite.second);
    const body = client.submitBody('update_user_name', parameters);
    const headers = { 'x-stamp': stampFor(Buffer.from(body), client.key) };
    const done = await send(client.baseUrl, '/public/v1/submit/update_user_name', body, headers);
    expect(done.body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    await expectNoChange(async () => {
      for (const operation of operations.filter(({ name }) => name !== 'update_user_name')) {
        expectRefusal(await send(client.baseUrl, pathOf(operation), body, headers), 'REQUEST_INVALID');
      }
    });
  });

  test('a captured query never becomes a submit', async () => {
    const captured: (readonly [TestClient, string, Record<string, string>])[] = [];
    // Which path takes which body is judged before a database is asked.
    for (const query of database === 'sqlite' ? queries : queries.slice(0, 1)) {
      if (casesOf(query.name).isOfOperator) continue;
      const { client, parameters } = await caseFor(
        query.name,
        runsIn(query, suite.second) ? suite.second : suite.parent,
      );
      const body = JSON.stringify({ organizationId: client.organizationId, ...parameters });
      const headers = { 'x-stamp': stampFor(Buffer.from(body), client.key) };
      expect((await send(client.baseUrl, pathOf(query), body, headers)).status).toBe(200);
      captured.push([client, body, headers]);
    }
    // Every body on some paths, every path with some body: a path does not know which query a body was for.
    const submits = operations.filter(({ kind }) => kind !== 'query');
    await expectNoChange(() =>
      inParallel([...captured.entries()], async ([turn, [{ baseUrl }, body, headers]]) => {
        for (const operation of submits.filter((_operation, index) => index % captured.length === turn)) {
          expectRefusal(await send(baseUrl, pathOf(operation), body, headers), 'REQUEST_INVALID');
        }
      }),
    );
  });

  test('a captured submit replayed on its own path does nothing again', async () => {
    const { client, parameters } = await caseFor('create_users', suite.second);
    const body = client.submitBody('create_users', parameters);
    const firstTime = await client.sendStamped('/public/v1/submit/create_users', body);
    expect(firstTime.body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    const again = await expectNoChange(() => client.sendStamped('/public/v1/submit/create_users', body));
    expect(again.body.activity.id).toBe(firstTime.body.activity.id);
    // Under another organization the same bytes are nobody's: the id is inside them.
    await expectNoChange(async () =>
      expectRefusal(await suite.first.root.sendStamped('/public/v1/submit/create_users', body), 'PUBLIC_KEY_NOT_FOUND'),
    );
  });

  test.each(['approve_activity', 'reject_activity'])('%s finds no activity of another organization', async (vote) => {
    for (const [voter, target] of [
      [suite.first, suite.second],
      [suite.first, suite.parent],
      [suite.parent, suite.first],
      [suite.other, suite.parent],
    ] as const) {
      const own = await caseFor(vote, voter);
      expect((await voter.root.submit(vote, own.parameters)).status).toBe(200);
      const { fingerprint } = (await caseFor(vote, target)).parameters;
      await expectNoChange(async () =>
        expectRefusal(await voter.root.submit(vote, { fingerprint }), 'ACTIVITY_NOT_FOUND'),
      );
      // The activity still waits for those it belongs to.
      expect((await target.root.submit(vote, { fingerprint })).status).toBe(200);
    }
  });

  test('the same bytes stamped by another tenant approve nothing', async () => {
    const { root, second: proposer } = suite.second;
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, proposer.userId] });
    const body = proposer.submitBody('update_user_name', { userId: proposer.userId, userName: 'by two' });
    const path = '/public/v1/submit/update_user_name';
    const pending = await proposer.sendStamped(path, body);
    expect(pending.body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    await expectNoChange(async () => {
      expectRefusal(await suite.first.root.sendStamped(path, body), 'PUBLIC_KEY_NOT_FOUND');
      expectRefusal(await suite.other.root.sendStamped(path, body), 'PUBLIC_KEY_NOT_FOUND');
      expectRefusal(await suite.parent.root.sendStamped(path, body), 'ORGANIZATION_MISMATCH');
    });
    expect((await root.sendStamped(path, body)).body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    const back = await root.submit('update_root_quorum', { threshold: 1, userIds: [root.userId] });
    await proposer.submit('approve_activity', { fingerprint: back.body.activity.fingerprint });
  });

  test('a parent finds its own children by what they hold, and nobody else does', async () => {
    const { body } = await suite.second.root.query('get_user', { userId: suite.second.second.userId });
    const held = {
      NAME: (await suite.second.root.query('whoami')).body.organizationName,
      USERNAME: body.user.userName,
      EMAIL: body.user.userEmail,
      PHONE_NUMBER: body.user.userPhoneNumber,
      CREDENTIAL_ID: suite.second.passkey.credentialId,
      PUBLIC_KEY: suite.second.root.key.publicKey,
      WALLET_ACCOUNT_ADDRESS: suite.second.ids.address,
      OIDC_TOKEN: suite.world.outside.idToken(suite.second.marker),
    };
    for (const [filterType, filterValue] of Object.entries(held)) {
      const mine = await suite.parent.root.query('list_suborgs', { filterType, filterValue });
      expect(mine.body.organizationIds, filterType).toContain(suite.second.ids.organization);
      for (const stranger of [suite.other, suite.othersChild, suite.first]) {
        const theirs = await stranger.root.query('list_suborgs', { filterType, filterValue });
        expect(theirs.body.organizationIds).toEqual([]);
      }
    }
    const all = await suite.other.root.query('list_suborgs');
    expect(all.body.organizationIds).toContain(suite.othersChild.ids.organization);
    expect(all.body.organizationIds).not.toContain(suite.second.ids.organization);
  });

  test('the IP allowlist of a key is for its own organization to read and remove', async () => {
    for (const [attacker, victim] of [
      [suite.first, suite.second],
      [suite.first, suite.parent],
      [suite.parent, suite.first],
      [suite.other, suite.parent],
    ] as const) {
      const { publicKey } = victim.ids;
      const read = async ({ root }: Tenant) => (await root.query('get_ip_allowlist', { publicKey })).body.allowlist;
      const before = await read(victim);
      expect(before.rules).toMatchObject([{ label: `${victim.marker} network` }]);
      expect(await read(attacker)).toEqual({ ...before, organizationId: attacker.ids.organization, rules: [] });
      // To remove what is not there is no error, and no removal.
      await attacker.root.run('remove_ip_allowlist', { publicKey });
      expect(await read(victim)).toEqual(before);
    }
  });

  test('a verification token serves where it was issued, and a parent’s in its tree', async () => {
    const email = newEmail();
    const person = await createUser(suite.first.root, 'with one address', { userEmail: email });
    for (const [issuer, serves] of [
      [suite.first, true],
      [suite.parent, true],
      [suite.second, false],
      [suite.other, false],
      [suite.othersChild, false],
    ] as const) {
      const { body } = await suite.first.root.submit('otp_login', await newLogin(issuer.root, email));
      if (serves) expect(body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      else expect(body.errorCode).toBe('INVALID_VERIFICATION_TOKEN');
      const verificationToken = await newVerification(issuer.root, newKeyPair(), email);
      const proven = { userId: person.userId, userEmail: email, verificationToken };
      const change = await suite.first.root.submit('update_user_email', proven);
      if (serves) expect(change.status).toBe(200);
      else expectRefusal(change, 'INVALID_VERIFICATION_TOKEN');
    }
  });

  test('what became of a mail is for the organization that sent it, and its parent', async () => {
    const read = async (reader: TestClient, { mailbox, ids }: Tenant, organizationId = reader.organizationId) => {
      const { body } = await reader.query('list_email_events', { email: mailbox, eventType: 'sent', organizationId });
      return body.emailEvents.map((event: { organizationId: string }) => event.organizationId === ids.organization);
    };
    for (const [reader, sender] of [
      [suite.first, suite.second],
      [suite.first, suite.parent],
      [suite.parent, suite.first],
      [suite.other, suite.parent],
    ] as const) {
      expect(await read(sender.root, sender)).toEqual([true]);
      expect(await read(reader.root, sender)).toEqual([]);
    }
    expect(await read(suite.parent.root, suite.first, suite.first.ids.organization)).toEqual([true]);
  });

  test('webhooks tell an organization and its parent what happens in it, and nobody else', async () => {
    const { received } = suite.world.outside;
    const tenants = [suite.parent, suite.first, suite.second, suite.other, suite.othersChild];
    const all = { eventType: 'ACTIVITY_UPDATES' };
    const listen = async ({ root }: Tenant, name: string, subscription: Record<string, unknown>) => {
      const parameters = { url: suite.world.outside.hook(name), name, subscriptions: [subscription] };
      return [root, (await root.run('create_webhook_endpoint', parameters)).endpointId] as const;
    };
    const secret = `told ${randomUUID()}`;
    const names = () => received.filter(({ body }) => body.includes(secret)).map(({ name }) => name);
    const endpoints: (readonly [TestClient, string])[] = [];
    try {
      for (const tenant of tenants) endpoints.push(await listen(tenant, `all of ${tenant.marker}`, all));
      // To name an organization in a filter opens nothing.
      const seconds = JSON.stringify({ organizationIds: [suite.second.ids.organization] });
      for (const tenant of [suite.first, suite.other, suite.othersChild]) {
        endpoints.push(await listen(tenant, `seconds for ${tenant.marker}`, { ...all, filtersJson: seconds }));
      }
      endpoints.push(await listen(suite.parent, 'seconds for its parent', { ...all, filtersJson: seconds }));
      await suite.second.root.run('update_user_name', { userId: suite.second.second.userId, userName: secret });
      await suite.world.settle();
      expect(names().sort()).toEqual(
        [`all of ${suite.parent.marker}`, `all of ${suite.second.marker}`, 'seconds for its parent'].sort(),
      );
      for (const { root, ids } of tenants) {
        const { webhookDeliveries } = (await root.query('list_webhook_deliveries')).body;
        const about = new Set(webhookDeliveries.map((delivery: { organizationId: string }) => delivery.organizationId));
        const tree =
          root === suite.parent.root
            ? [suite.first, suite.second]
            : root === suite.other.root
              ? [suite.othersChild]
              : [];
        for (const child of tree) about.delete(child.ids.organization);
        expect([...about]).toEqual([ids.organization]);
      }
    } finally {
      for (const [root, endpointId] of endpoints) await root.run('delete_webhook_endpoint', { endpointId });
    }
  });

  test('deliveries are for the organization that they go to, and its parent', async () => {
    const read = async (reader: TestClient, { ids }: Tenant, organizationId = reader.organizationId) => {
      const { body } = await reader.query('list_webhook_deliveries', { eventId: ids.webhookEvent, organizationId });
      return body.webhookDeliveries.map(({ deliveryId }: { deliveryId: string }) => deliveryId);
    };
    for (const [reader, owner] of [
      [suite.first, suite.second],
      [suite.first, suite.parent],
      [suite.parent, suite.first],
      [suite.other, suite.parent],
    ] as const) {
      expect(await read(owner.root, owner)).toEqual([owner.ids.webhookDelivery]);
      expect(await read(reader.root, owner)).toEqual([]);
      // All that failed since ever, of an endpoint of others and of their own one.
      const replay = (endpointId: string) =>
        reader.root.submit('replay_webhook_delivery', { endpointId, sinceMs: '0' });
      expect((await replay(reader.ids.webhookEndpoint)).status).toBe(200);
      const foreign = await expectNoChange(() => replay(owner.ids.webhookEndpoint));
      expectRefusal(foreign, 'WEBHOOK_ENDPOINT_NOT_FOUND');
      expect(outward(foreign)).toEqual(outward(await replay(randomId())));
    }
    expect(await read(suite.parent.root, suite.first, suite.first.ids.organization)).toEqual([
      suite.first.ids.webhookDelivery,
    ]);
  });

  test('nothing is sent to an endpoint for somebody who may not', async () => {
    const { received } = suite.world.outside;
    const name = `${suite.second.marker} hook`;
    const count = () => received.filter((one) => one.name === name).length;
    const send = ({ root, member }: Tenant, sender: 'root' | 'member') =>
      (sender === 'root' ? root : member).submit('test_webhook_endpoint', {
        endpointId: suite.second.ids.webhookEndpoint,
      });
    const before = count();
    expect((await send(suite.second, 'root')).status).toBe(200);
    expect(count()).toBe(before + 1);
    expectRefusal(await send(suite.second, 'member'), 'REQUEST_NOT_AUTHORIZED');
    for (const tenant of [suite.first, suite.parent, suite.other])
      expectRefusal(await send(tenant, 'root'), 'WEBHOOK_ENDPOINT_NOT_FOUND');
    expect(count()).toBe(before + 1);
  });

  test.each(['create_fiat_on_ramp_credential', 'create_oauth2_credential'])(
    '%s takes no secret that another organization has sent',
    async (operation) => {
      const { parameters } = await caseFor(operation, suite.parent);
      expect((await suite.parent.root.submit(operation, parameters)).status).toBe(200);
      const secret = 'encryptedClientSecret' in parameters ? String(parameters.encryptedClientSecret) : '';
      const stolen = { ...parameters, ...(secret !== '' && { clientId: randomUUID() }) };
      const spellings = secret === '' ? [stolen] : [stolen, { ...stolen, encryptedClientSecret: secret.toUpperCase() }];
      for (const spelling of spellings) {
        const refused = await expectNoChange(() => suite.other.root.submit(operation, spelling));
        expectRefusal(refused, 'INVALID_BUNDLE');
        expect((await suite.parent.root.submit(operation, { ...spelling, clientId: randomUUID() })).status).toBe(200);
      }
      const own = await caseFor(operation, suite.other);
      expect((await suite.other.root.submit(operation, own.parameters)).status).toBe(200);
    },
  );

  test('a session profile serves the tree of its parent and no other', async () => {
    const status = async ({ root }: Tenant, { ids }: Tenant) =>
      (await root.query('get_session_profile', { sessionProfileId: ids.sessionProfile })).status;
    for (const tenant of [suite.parent, suite.first, suite.second]) {
      expect(await status(tenant, suite.parent)).toBe(200);
      expect(await status(tenant, suite.other)).toBe(404);
      const { body } = await tenant.root.query('get_session_profiles');
      expect(JSON.stringify(body)).not.toContain(suite.other.marker);
    }
    expect(await status(suite.othersChild, suite.other)).toBe(200);
    expect(await status(suite.othersChild, suite.parent)).toBe(404);
  });

  test('a draft under the id of a policy of another organization stands in for nothing', async () => {
    const { parameters } = await caseFor('simulate_activity', suite.first);
    const asks = async (policyId: string) => {
      const draftPolicies = [{ policyId, effect: 'EFFECT_DENY', condition: 'false' }];
      return await suite.first.root.query('simulate_activity', { ...parameters, draftPolicies });
    };
    const foreign = await asks(suite.second.ids.policy);
    expect(foreign.status).toBe(400);
    expect(foreign.body).toEqual((await asks(randomUUID())).body);
    expect((await asks(suite.first.ids.policy)).status).toBe(200);
  });

  test("a stranger's key in another organization takes nothing over", async () => {
    const { key, userId } = suite.second.root;
    const apiKeys = [{ apiKeyName: 'not mine', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }];
    await suite.first.root.run('create_api_keys', { userId: suite.first.member.userId, apiKeys });
    await suite.other.root.run('create_api_keys', { userId: suite.other.member.userId, apiKeys });
    const home = { organizationId: suite.second.ids.organization, userId };
    expect((await suite.second.root.query('whoami')).body).toMatchObject(home);
    const viaParent = await suite.second.root.query('whoami', { organizationId: suite.parent.ids.organization });
    expect(viaParent.body).toMatchObject(home);
    await suite.second.root.run('update_user_name', { userId: suite.second.second.userId, userName: 'still mine' });
    // The holder of the key is a user of the other organization now, with the rights of the user it was given to.
    const there = await send(
      suite.first.root.baseUrl,
      '/public/v1/query/whoami',
      ...stamped(suite.second.root, JSON.stringify({ organizationId: suite.first.ids.organization })),
    );
    expect(there.body).toMatchObject({
      organizationId: suite.first.ids.organization,
      userId: suite.first.member.userId,
    });
  });

  test('a read-only session reads its own organization and writes nothing', async () => {
    const path = '/public/v1/submit/update_user_name';
    const { parameters } = await caseFor('update_user_name', suite.first);
    const body = suite.first.root.submitBody('update_user_name', parameters);
    expect((await suite.first.root.sendStamped(path, body)).status).toBe(200);
    const next = suite.first.root.submitBody('update_user_name', parameters);
    await expectNoChange(async () => expectRefusal(await withSession(suite.first, path, next), 'UNAUTHENTICATED'));
  });

  testHere?.('a deleted sub-organization answers none of its credentials', async () => {
    const gone = await suite.world.addSubOrganization(suite.parent, 'gone');
    const requests: (readonly [Operation, Version, Record<string, unknown>])[] = [];
    for (const operation of operations) {
      // Of the operator's organization alone, whoever asks.
      if (casesOf(operation.name).isOfOperator) continue;
      for (const version of versionsOf(operation)) {
        const { parameters } = await caseFor(operation.name, gone, version.type);
        requests.push([operation, version, parametersOf(version, parameters)]);
      }
    }
    await gone.root.run('delete_sub_organization', { deleteWithoutExport: true });
    await expectNoChange(async () => {
      for (const [turn, [operation, version, parameters]] of requests.entries()) {
        const body =
          version.type === undefined ? JSON.stringify({ ...parameters, organizationId: gone.ids.organization }) : '';
        // That the organization is gone is seen before anybody asks which of its users it is.
        const users = [gone.root, gone.second, gone.member];
        for (const client of users.filter((_user, index) => index === turn % users.length)) {
          expectRefusal(await request(client, operation, version, parameters), 'ORGANIZATION_NOT_FOUND');
          const viaParent = await request(client, operation, version, parameters, suite.parent.ids.organization);
          expectRefusal(viaParent, 'PUBLIC_KEY_NOT_FOUND');
        }
        // Its parent reads what is left, and still writes nothing.
        const byParent = await request(suite.parent.root, operation, version, parameters, gone.ids.organization);
        // To a simulation a submitter who is gone is a wrong field.
        if (operation.name === 'simulate_activity') expectRefusal(byParent, 'REQUEST_INVALID');
        else if (operation.kind === 'query') expect([200, 404]).toContain(byParent.status);
        else expectRefusal(byParent, 'ORGANIZATION_NOT_FOUND');
        expectRefusal(
          await request(suite.other.root, operation, version, parameters, gone.ids.organization),
          'ORGANIZATION_NOT_FOUND',
        );
        if (operation.kind !== 'query') continue;
        for (const sender of [withPasskey, withSession]) {
          expectRefusal(await sender(gone, pathOf(operation), body), 'ORGANIZATION_NOT_FOUND');
        }
      }
    });
    expect((await suite.parent.root.query('list_suborgs')).body.organizationIds).not.toContain(gone.ids.organization);
  });

  test('the feature of one parent does not govern the passkeys of another', async () => {
    const feature = { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://elsewhere.example' };
    const body = JSON.stringify({ organizationId: suite.first.ids.organization });
    const path = '/public/v1/query/whoami';
    await suite.other.root.run('set_organization_feature', feature);
    expect((await withPasskey(suite.first, path, body)).status).toBe(200);
    await suite.parent.root.run('set_organization_feature', feature);
    expectRefusal(await withPasskey(suite.first, path, body), 'SIGNATURE_INVALID');
    for (const { root } of [suite.other, suite.parent])
      await root.run('remove_organization_feature', { name: feature.name });
    expect((await withPasskey(suite.first, path, body)).status).toBe(200);
  });

  test('a child with the same ids of its own is not its sibling', async () => {
    const twin = await createSubOrganization(suite.parent.root, 'first');
    const { body } = await twin.query('get_organization');
    expect(JSON.stringify(body)).not.toContain(suite.first.marker);
    expect(body.organizationData.users).toHaveLength(1);
  });

  const stamped = (client: TestClient, body: string) =>
    [body, { 'x-stamp': stampFor(Buffer.from(body), client.key) }] as const;
});
