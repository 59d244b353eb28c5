import Type from 'typebox';
import { OrganizationReader } from '../../../core/store/organizations.ts';
import { defineQuery } from '../../../engine/define.ts';
import { toTimestamp } from '../../../lib/clock.ts';
import { ApiError } from '../../../lib/errors.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderPolicy } from '../../policies/render.ts';
import { PolicyShape } from '../../policies/shapes.ts';
import { ContractInterfaceReader } from '../../policies/store/contract-interfaces.ts';
import { PolicyReader } from '../../policies/store/policies.ts';
import { renderTag, renderUser } from '../../users/render/user.ts';
import { TagShape, UserShape } from '../../users/shapes/users.ts';
import { TagReader } from '../../users/store/tags.ts';
import { UserReader } from '../../users/store/users.ts';
import { renderPrivateKey, renderWallet } from '../../wallets/render.ts';
import { PrivateKeyShape, WalletShape } from '../../wallets/shapes.ts';
import { PrivateKeyReader } from '../../wallets/store/private-keys.ts';
import { WalletReader } from '../../wallets/store/wallets.ts';
import type { Invitation } from '../model.ts';
import { FeatureShape, InvitationShape, QuorumShape } from '../shapes.ts';
import { InvitationReader } from '../store.ts';

export const getOrganization = defineQuery({
  name: 'get_organization',
  summary: 'Everything in the organization at once; large ones are read through the lists.',
  parameters: Type.Object({ organizationId: IdShape }),
  response: Type.Object({
    organizationData: Type.Object({
      organizationId: Type.String(),
      name: Type.String(),
      users: Type.Array(UserShape),
      policies: Type.Array(PolicyShape),
      privateKeys: Type.Array(PrivateKeyShape),
      invitations: Type.Array(InvitationShape),
      tags: Type.Array(TagShape),
      rootQuorum: QuorumShape,
      features: Type.Array(FeatureShape),
      wallets: Type.Array(WalletShape),
      smartContractInterfaceReferences: Type.Array(
        Type.Object({
          smartContractInterfaceId: Type.String(),
          smartContractAddress: Type.String(),
          digest: Type.String(),
        }),
      ),
    }),
  }),
  async run({ read, actor, config }) {
    const { organization, organizationId } = actor;
    const everything = toPageRequest(undefined, config.listMax);
    const [users, tags, invitations, features, wallets, privateKeys, policies, contracts] = await Promise.all([
      read(UserReader).page(organizationId, everything),
      read(TagReader).page(organizationId, undefined, everything),
      read(InvitationReader).list(organizationId, config.listMax + 1),
      read(OrganizationReader).features(organizationId),
      read(WalletReader).page(organizationId, everything),
      read(PrivateKeyReader).page(organizationId, everything),
      read(PolicyReader).page(organizationId, everything),
      read(ContractInterfaceReader).digests(organizationId, everything),
    ]);
    if (invitations.length > config.listMax) {
      throw new ApiError('RESULT_TOO_LARGE', `the organization has more than ${config.listMax} invitations`);
    }
    return {
      organizationData: {
        organizationId,
        name: organization.name,
        users: users.items.map(renderUser),
        policies: policies.items.map(renderPolicy),
        privateKeys: privateKeys.items.map(renderPrivateKey),
        invitations: invitations.map(renderInvitation),
        tags: tags.items.map(renderTag),
        rootQuorum: { threshold: organization.rootThreshold, userIds: [...organization.rootUserIds] },
        features,
        wallets: wallets.items.map(renderWallet),
        smartContractInterfaceReferences: contracts.items.map(({ id, address, digest }) => ({
          smartContractInterfaceId: id,
          smartContractAddress: address,
          digest,
        })),
      },
    };
  },
});

const renderInvitation = (invitation: Invitation) => ({
  invitationId: invitation.id,
  receiverUserName: invitation.receiverUserName,
  receiverEmail: invitation.receiverEmail,
  receiverUserTags: [...invitation.receiverUserTags],
  accessType: invitation.accessType,
  status: invitation.status,
  senderUserId: invitation.senderUserId,
  createdAt: toTimestamp(invitation.createdAtMs),
  updatedAt: toTimestamp(invitation.updatedAtMs),
});
