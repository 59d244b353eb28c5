// Two of three people must agree. The three are the root users of a new sub-organization, so that your own
// organization stays as it is.
import { ActivityPendingError, ApiKeyStamper, createClient, generateApiKey, verifyVote } from '@custos/sdk';
import { rootAccess } from './credentials.ts';

const parent = rootAccess();

const people = await Promise.all(
  ['Alice', 'Bob', 'Carol'].map(async (userName) => ({ userName, key: await generateApiKey() })),
);
const { subOrganizationId } = await parent.client.createSubOrganization({
  subOrganizationName: 'Treasury',
  rootQuorumThreshold: 2,
  rootUsers: people.map(({ userName, key }) => ({
    userName,
    apiKeys: [{ apiKeyName: 'Laptop', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
    authenticators: [],
    oauthProviders: [],
  })),
});
const [alice, bob, carol] = people.map(({ key }) =>
  createClient({ baseUrl: parent.baseUrl, organizationId: subOrganizationId, stamper: new ApiKeyStamper(key) }),
);
if (!alice || !bob || !carol) throw new Error('three people were expected');

/** Proposes something that needs more than one person, and answers the fingerprint that the others vote on. */
async function propose(proposal: Promise<unknown>): Promise<string> {
  try {
    await proposal;
  } catch (error) {
    if (!(error instanceof ActivityPendingError)) throw error;
    console.log(`proposed: ${error.activity.type} is ${error.status}`);
    return error.fingerprint;
  }
  throw new Error('one person was enough');
}

const tag = await propose(alice.createUserTag({ userTagName: 'Approvers', userIds: [] }));
const approved = await bob.approveActivity({ fingerprint: tag });
console.log(`Bob approved: ${approved.activity.status}`);
for (const vote of approved.activity.votes) {
  const proof = (await verifyVote(vote, approved.activity)) ? 'signature verified' : 'SIGNATURE WRONG';
  console.log(`- ${vote.user.userName}: ${vote.selection}, ${proof}`);
}

const rename = await propose(alice.updateOrganizationName({ organizationName: "Alice's own treasury" }));
const rejected = await carol.rejectActivity({ fingerprint: rename });
console.log(`Carol rejected: ${rejected.activity.status}`);

const { userTags } = await carol.listUserTags();
const { organizationData } = await carol.getOrganization();
console.log(`${organizationData.name} has the tags: ${userTags.map(({ tagName }) => tagName).join(', ')}`);
