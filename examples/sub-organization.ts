// One isolated sub-organization per end user: the application creates and finds them, each end user holds the key.
import { ApiKeyStamper, createClient, generateApiKey } from '@custos/sdk';
import { rootAccess } from './credentials.ts';

const { client, baseUrl } = rootAccess();
// Addresses that no earlier run has used.
const run = Date.now().toString(36);

const endUsers = [];
for (const name of ['ann', 'ben', 'cem']) {
  const key = await generateApiKey();
  const email = `${name}.${run}@example.com`;
  const { subOrganizationId } = await client.createSubOrganization({
    subOrganizationName: `End user ${name}`,
    rootQuorumThreshold: 1,
    rootUsers: [
      {
        userName: name,
        userEmail: email,
        apiKeys: [{ apiKeyName: 'Phone', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        authenticators: [],
        oauthProviders: [],
      },
    ],
  });
  console.log(`created ${subOrganizationId} for ${email}`);
  endUsers.push({ name, email, key, subOrganizationId });
}

// Pages of two, from the first to the last.
let after: string | undefined;
let total = 0;
do {
  const { organizationIds, pageInfo } = await client.listSuborgs({
    paginationOptions: { limit: '2', ...(after !== undefined && { after }) },
  });
  total += organizationIds.length;
  console.log(`page of ${organizationIds.length}`);
  after = pageInfo.hasNextPage ? pageInfo.endCursor : undefined;
} while (after !== undefined);
console.log(`sub-organizations: ${total}`);

const [, ben] = endUsers;
if (!ben) throw new Error('three end users were expected');
const found = await client.listSuborgs({ filterType: 'EMAIL', filterValue: ben.email });
console.log(`found by email: ${found.organizationIds.join(', ')}`);

// The parent reads its sub-organizations, the end user acts in its own.
const { users } = await client.listUsers({}, { organizationId: ben.subOrganizationId });
console.log(`the parent sees: ${users.map(({ userName }) => userName).join(', ')}`);
const phone = createClient({
  baseUrl,
  organizationId: ben.subOrganizationId,
  stamper: new ApiKeyStamper(ben.key),
});
const me = await phone.whoami();
await phone.updateUserName({ userId: me.userId, userName: 'Benjamin' });
console.log(`the end user is now called ${(await phone.whoami()).username}`);
