import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { NEW_FEATURES } from '../../../test/fixtures/features.ts';
import { ETHEREUM } from '../../../test/fixtures/keys.ts';
import {
  newEmail,
  newPhone,
  newUnboundVerification,
  newVerification,
  signUpSignature,
} from '../../../test/fixtures/outside.ts';
import { currentStyle, newPasskey } from '../../../test/fixtures/passkey.ts';
import { known, newInvitation, oldApiKey, userParams } from '../../../test/fixtures/users.ts';
import { createSubOrganization, newKeyPair, type TestClient } from '../../../test/harness/client.ts';
import { prune, type Shape } from '../../../test/hostile/schema.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import {
  type Arranged,
  anEthereumAddress,
  anId,
  EMPTY_PAGE,
  notFound,
  PAGE_INFO,
  TIMESTAMP,
  type World,
} from '../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../test/operations/hostile-case.ts';
import type { Tenant } from '../../../test/operations/tenant.ts';
import { createSubOrganization as signUp } from './operations/create-sub-organization.ts';

interface SignUp {
  readonly rootUser: Record<string, unknown>;
  readonly extra?: Record<string, unknown>;
}

/** Somebody who has proven an email address, signed with the key that the proof is bound to. */
async function provenByKey(world: World): Promise<SignUp> {
  const [key, email] = [newKeyPair(), newEmail()];
  const verificationToken = await newVerification(world.root, key, email);
  const rootUser = known(world, { userEmail: email });
  const { apiKeys, authenticators, oauthProviders } = rootUser;
  const clientSignature = signUpSignature(key, verificationToken, { email, apiKeys, authenticators, oauthProviders });
  return { rootUser, extra: { verificationToken, clientSignature } };
}

/** Somebody who has proven a phone number, with a token that is bound to no key. */
async function provenByPhone(world: World): Promise<SignUp> {
  const phone = newPhone();
  const verificationToken = await newUnboundVerification(world.root, phone);
  return { rootUser: known(world, { userPhoneNumber: phone }), extra: { verificationToken } };
}

/** create_sub_organization in any of its versions. */
function newSubOrganization(signUp: (world: World) => Promise<SignUp> | SignUp, common: Record<string, unknown> = {}) {
  return async (world: World): Promise<Arranged> => {
    const { rootUser, extra: proof } = await signUp(world);
    const extra: Record<string, unknown> = { ...common, ...proof };
    const subOrganizationName = `Sub ${randomUUID()}`;
    const verified = async (reader: TestClient) => {
      const [filterType, filterValue] =
        rootUser.userPhoneNumber === undefined
          ? ['EMAIL', rootUser.userEmail]
          : ['PHONE_NUMBER', rootUser.userPhoneNumber];
      return (await reader.query('list_verified_suborgs', { filterType, filterValue })).body.organizationIds;
    };
    const providers = ((rootUser.oauthProviders ?? []) as object[]).map(() => ({ issuer: world.outside.issuer }));
    const byName = async (reader: TestClient) =>
      (await reader.query('list_suborgs', { filterType: 'NAME', filterValue: subOrganizationName })).body;
    const wallet = extra.wallet === undefined ? undefined : { walletId: anId, addresses: [anEthereumAddress] };
    return {
      parameters: { subOrganizationName, rootQuorumThreshold: 1, rootUsers: [rootUser], ...extra },
      result: { subOrganizationId: anId, rootUserIds: [anId], ...(wallet && { wallet }) },
      holds: async (reader) => {
        const { organizationIds } = await byName(reader);
        expect(organizationIds).toHaveLength(1);
        const child = await reader.query('get_organization', { organizationId: organizationIds[0] });
        expect(child.body.organizationData).toMatchObject({
          name: subOrganizationName,
          users: [
            {
              userName: 'Someone',
              apiKeys: [{ credential: { type: 'CREDENTIAL_TYPE_API_KEY_P256' } }],
              oauthProviders: providers,
            },
          ],
          rootQuorum: { threshold: 1, userIds: [anId] },
          wallets: wallet ? [{ walletName: 'First', exported: false, imported: false }] : [],
        });
        if (proof?.verificationToken !== undefined) expect(await verified(reader)).toEqual(organizationIds);
        const { accounts } = (await reader.query('list_wallet_accounts', { organizationId: organizationIds[0] })).body;
        expect(accounts).toMatchObject(wallet ? [{ ...ETHEREUM, organizationId: organizationIds[0] }] : []);
        for (const { address } of accounts) {
          const found = await reader.query('list_suborgs', {
            filterType: 'WALLET_ACCOUNT_ADDRESS',
            filterValue: address,
          });
          expect(found.body.organizationIds).toEqual(organizationIds);
        }
      },
      absent: async (reader) => expect((await byName(reader)).organizationIds).toEqual([]),
    };
  };
}

/** Before OAuth and before curves could be chosen. */
const oldRootUser = () => ({
  userName: 'Someone',
  userEmail: 's@example.com',
  apiKeys: [oldApiKey()],
  authenticators: [],
});

const WALLET = { wallet: { walletName: 'First', accounts: [ETHEREUM], mnemonicLength: 12 } };

const invitation = (senderUserId: string) => ({
  receiverUserName: 'Guest',
  receiverUserEmail: 'guest@example.com',
  receiverUserTags: [],
  accessType: 'ACCESS_TYPE_ALL',
  senderUserId,
});

const invitations = async (reader: TestClient) =>
  (await reader.query('get_organization')).body.organizationData.invitations;

/** A root user as the current version has it. */
const ROOT_USER = (signUp.versions[0] as { schema: Shape }).schema.properties?.rootUsers?.items as Shape;

const PRIVATE_KEY = { curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: ['ADDRESS_FORMAT_SOLANA'] };

/** The proof that a root user of a new sub-organization has its email address, and who holds the key of the proof. */
async function signUpProof({ root }: Tenant, rootUser: Record<string, unknown>, shape: Shape) {
  const key = newKeyPair();
  const email = rootUser.userEmail as string;
  const verificationToken = await newVerification(root, key, email);
  const { apiKeys, authenticators, oauthProviders } = prune(shape, rootUser) as Record<string, unknown>;
  const said = { email, apiKeys, authenticators, oauthProviders };
  return { verificationToken, clientSignature: signUpSignature(key, verificationToken, said) };
}

export const cases: DomainCases = {
  create_invitations: {
    activity: {
      intentKey: 'createInvitationsIntent',
      resultKey: 'createInvitationsResult',
      arrange: async ({ root }) => ({
        parameters: { invitations: [invitation(root.userId)] },
        result: { invitationIds: [anId] },
        holds: async (reader) =>
          expect(await invitations(reader)).toEqual([
            {
              invitationId: anId,
              receiverUserName: 'Guest',
              receiverEmail: 'guest@example.com',
              receiverUserTags: [],
              accessType: 'ACCESS_TYPE_ALL',
              status: 'INVITATION_STATUS_CREATED',
              senderUserId: root.userId,
              createdAt: TIMESTAMP,
              updatedAt: TIMESTAMP,
            },
          ]),
        absent: async (reader) => expect(await invitations(reader)).toEqual([]),
      }),
      foreign: async ({ root }, other) => {
        const { userTagId } = await other.root.run('create_user_tag', { userTagName: 'theirs', userIds: [] });
        return notFound({ invitations: [{ ...invitation(root.userId), receiverUserTags: [userTagId] }] });
      },
    },
    hostile: byRoot((tenant) => ({
      invitations: [newInvitation(tenant.root, tenant.marker, [tenant.ids.tag])],
    })),
  },
  create_sub_organization: {
    activity: {
      place: 'parent',
      intentKey: 'createSubOrganizationIntentV8',
      resultKey: 'createSubOrganizationResultV8',
      arrange: newSubOrganization(provenByKey, WALLET),
      legacy: {
        ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7: {
          intentKey: 'createSubOrganizationIntentV7',
          resultKey: 'createSubOrganizationResultV7',
          arrange: newSubOrganization(provenByPhone, { ...WALLET, disableSmsAuth: true }),
        },
        ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6: {
          intentKey: 'createSubOrganizationIntentV6',
          resultKey: 'createSubOrganizationResultV6',
          arrange: newSubOrganization((world) => ({ rootUser: known(world) }), { ...WALLET, disableEmailAuth: true }),
        },
        ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5: {
          intentKey: 'createSubOrganizationIntentV5',
          resultKey: 'createSubOrganizationResultV5',
          arrange: newSubOrganization((world) => ({ rootUser: known(world, { apiKeys: [oldApiKey()] }) }), WALLET),
        },
        ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4: {
          intentKey: 'createSubOrganizationIntentV4',
          resultKey: 'createSubOrganizationResultV4',
          arrange: newSubOrganization(() => ({ rootUser: oldRootUser() }), { ...WALLET, disableEmailRecovery: true }),
        },
        ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3: {
          intentKey: 'createSubOrganizationIntentV3',
          resultKey: 'createSubOrganizationResultV3',
          arrange: async (world) => {
            const arranged = await newSubOrganization(() => ({ rootUser: oldRootUser() }), {
              privateKeys: [
                {
                  privateKeyName: 'k',
                  curve: 'CURVE_SECP256K1',
                  privateKeyTags: [],
                  addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
                },
              ],
            })(world);
            const addresses = [{ format: 'ADDRESS_FORMAT_ETHEREUM', address: anEthereumAddress }];
            return {
              ...arranged,
              result: { ...(arranged.result as object), privateKeys: [{ privateKeyId: anId, addresses }] },
            };
          },
        },
        ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2: {
          intentKey: 'createSubOrganizationIntentV2',
          resultKey: 'createSubOrganizationResult',
          arrange: newSubOrganization(() => ({ rootUser: oldRootUser() })),
        },
        ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION: {
          intentKey: 'createSubOrganizationIntent',
          resultKey: 'createSubOrganizationResult',
          arrange: async () => {
            const name = `Sub ${randomUUID()}`;
            const children = async (reader: TestClient) =>
              (await reader.query('list_suborgs', { filterType: 'NAME', filterValue: name })).body.organizationIds;
            return {
              parameters: { name, rootAuthenticator: currentStyle(newPasskey('Laptop').registration) },
              result: { subOrganizationId: anId, rootUserIds: [anId] },
              holds: async (reader) => expect(await children(reader)).toEqual([anId]),
              absent: async (reader) => expect(await children(reader)).toEqual([]),
            };
          },
        },
      },
    },
    hostile: byRoot(async (tenant, type) => {
      const rootUser = userParams(tenant);
      // Older versions know no proofs.
      const isProvable = type === undefined || /_V[78]$/.test(type);
      return {
        subOrganizationName: fresh(tenant),
        rootQuorumThreshold: 1,
        rootUsers: [rootUser],
        // Of the third version, and of the first.
        privateKeys: [{ ...PRIVATE_KEY, privateKeyName: fresh(tenant) }],
        name: fresh(tenant),
        rootAuthenticator: newPasskey(fresh(tenant)).registration,
        wallet: { walletName: fresh(tenant), accounts: [{ ...ETHEREUM, name: fresh(tenant) }], mnemonicLength: 12 },
        disableEmailRecovery: false,
        disableEmailAuth: false,
        disableSmsAuth: false,
        disableOtpEmailAuth: true,
        ...(isProvable && (await signUpProof(tenant, rootUser, ROOT_USER))),
      };
    }),
    // A new sub-organization has no tags: it is refused whatever it is.
    ids: { 'privateKeys.0.privateKeyTags.0': [] },
  },
  list_invitations: {
    query: {
      parameters: async ({ root }) => {
        await root.run('create_invitations', { invitations: [invitation(root.userId)] });
        return {};
      },
      answer: ({ root }) => ({
        invitations: [
          expect.objectContaining({
            invitationId: anId,
            receiverEmail: 'guest@example.com',
            senderUserId: root.userId,
            status: 'INVITATION_STATUS_CREATED',
            expiresAt: expect.any(String),
          }),
        ],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot(() => ({})),
  },
  delete_invitation: {
    activity: {
      intentKey: 'deleteInvitationIntent',
      resultKey: 'deleteInvitationResult',
      arrange: async ({ root }) => {
        const { invitationIds } = await root.run('create_invitations', { invitations: [invitation(root.userId)] });
        const status = async (reader: TestClient) => (await invitations(reader))[0].status;
        return {
          parameters: { invitationId: invitationIds[0] },
          result: { invitationId: invitationIds[0] },
          holds: async (reader) => expect(await status(reader)).toBe('INVITATION_STATUS_REVOKED'),
          absent: async (reader) => expect(await status(reader)).toBe('INVITATION_STATUS_CREATED'),
        };
      },
      foreign: async (_world, { root }) => {
        const { invitationIds } = await root.run('create_invitations', { invitations: [invitation(root.userId)] });
        return notFound({ invitationId: invitationIds[0] });
      },
    },
    hostile: byRoot(async (tenant) => {
      const invitations = [newInvitation(tenant.root, tenant.marker, [])];
      const { invitationIds } = await tenant.root.run('create_invitations', { invitations });
      return { invitationId: invitationIds[0] };
    }),
  },
  delete_sub_organization: {
    activity: {
      endsOrganization: true,
      intentKey: 'deleteSubOrganizationIntent',
      resultKey: 'deleteSubOrganizationResult',
      arrange: async ({ root, parent }) => {
        const { organizationId } = root;
        const listed = async () => (await parent.query('list_suborgs')).body.organizationIds;
        return {
          parameters: { deleteWithoutExport: true },
          result: { subOrganizationUuid: organizationId },
          holds: async () => expect(await listed()).not.toContain(organizationId),
          absent: async () => expect(await listed()).toContain(organizationId),
        };
      },
    },
    // Its sender is gone afterwards, so it is a sub-organization made for the purpose.
    hostile: async (tenant) => {
      const client = await createSubOrganization(tenant.treeRoot, fresh(tenant));
      await client.query('whoami');
      return { client, parameters: { deleteWithoutExport: true } };
    },
  },
  update_organization_name: {
    activity: {
      intentKey: 'updateOrganizationNameIntent',
      resultKey: 'updateOrganizationNameResult',
      arrange: async ({ root: { organizationId } }) => {
        const name = async (reader: TestClient) => (await reader.query('whoami')).body.organizationName;
        return {
          parameters: { organizationName: 'Renamed' },
          result: { organizationId, organizationName: 'Renamed' },
          holds: async (reader) => expect(await name(reader)).toBe('Renamed'),
          absent: async (reader) => expect(await name(reader)).not.toBe('Renamed'),
        };
      },
    },
    hostile: byRoot((tenant) => ({ organizationName: fresh(tenant) })),
  },
  update_root_quorum: {
    activity: {
      intentKey: 'updateRootQuorumIntent',
      resultKey: 'updateRootQuorumResult',
      arrange: async ({ root, plain }) => {
        const quorum = { threshold: 1, userIds: [plain.userId, root.userId] };
        const read = async (reader: TestClient) => (await reader.query('get_organization_configs')).body.configs.quorum;
        return {
          parameters: quorum,
          result: {},
          holds: async (reader) => expect(await read(reader)).toEqual(quorum),
          absent: async (reader) => expect(await read(reader)).not.toEqual(quorum),
        };
      },
      foreign: async ({ root }, other) => ({
        parameters: { threshold: 1, userIds: [root.userId, other.root.userId] },
        status: 400,
        code: 'INVALID_QUORUM',
      }),
    },
    hostile: byRoot((tenant) => ({ threshold: 1, userIds: [tenant.root.userId] })),
  },
  get_organization_configs: {
    query: {
      answer: ({ root }) => ({ configs: { features: NEW_FEATURES, quorum: { threshold: 1, userIds: [root.userId] } } }),
    },
    hostile: byRoot(() => ({})),
  },
  get_organization: {
    query: {
      answer: ({ root }) => ({
        organizationData: {
          organizationId: root.organizationId,
          name: expect.any(String),
          users: expect.any(Array),
          policies: [],
          privateKeys: [],
          invitations: [],
          tags: [],
          rootQuorum: { threshold: 1, userIds: [root.userId] },
          features: NEW_FEATURES,
          wallets: [],
          smartContractInterfaceReferences: [],
        },
      }),
    },
    hostile: byRoot(() => ({})),
  },
  list_suborgs: {
    query: { answer: () => ({ organizationIds: [], pageInfo: PAGE_INFO }) },
    hostile: byRoot((tenant) => ({ filterType: 'NAME', filterValue: tenant.marker })),
  },
  list_verified_suborgs: {
    query: { answer: () => ({ organizationIds: [], pageInfo: PAGE_INFO }) },
    hostile: byRoot((tenant) => ({ filterType: 'EMAIL', filterValue: `second@${tenant.marker}.example` })),
  },
  whoami: {
    query: {
      answer: ({ root }) => ({
        organizationId: root.organizationId,
        organizationName: expect.any(String),
        userId: root.userId,
        username: expect.stringMatching(/ root$|^n$/),
      }),
    },
    hostile: byRoot(() => ({})),
  },
  search_sub_organizations: {
    query: {
      answer: () => ({ subOrganizations: [], pageInfo: EMPTY_PAGE }),
    },
    hostile: byRoot((tenant) => ({ text: tenant.marker })),
  },
};
