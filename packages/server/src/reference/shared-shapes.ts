import type { TSchema } from 'typebox';
import { ActivityShape, ActivityStatusShape, VoteShape } from '../domains/activities/shapes.ts';
import {
  TvcAppShape,
  TvcDeploymentShape,
  TvcOperatorSetShape,
  TvcOperatorShape,
} from '../domains/deployments/shapes.ts';
import { FeatureNameShape, FeatureShape, InvitationShape, QuorumShape } from '../domains/organizations/shapes.ts';
import {
  ApiKeyCurveShape,
  ApiKeyParamsShape,
  ApiKeyShape,
  AuthenticatorParamsShape,
  AuthenticatorShape,
  OauthProviderParamsShape,
} from '../domains/users/shapes/credentials.ts';
import {
  AccessTypeShape,
  RootUserParamsShape,
  TagShape,
  UserParamsShape,
  UserShape,
} from '../domains/users/shapes/users.ts';
import { PageInfoShape, PaginationShape, TimestampShape } from '../lib/shapes.ts';

/** Shapes that several operations use, under the name which openapi.json, the SDK and the reference pages give them. */
export const SHARED_SHAPES = {
  AccessType: AccessTypeShape,
  Activity: ActivityShape,
  ActivityStatus: ActivityStatusShape,
  ApiKey: ApiKeyShape,
  ApiKeyCurve: ApiKeyCurveShape,
  ApiKeyParams: ApiKeyParamsShape,
  Authenticator: AuthenticatorShape,
  AuthenticatorParams: AuthenticatorParamsShape,
  Feature: FeatureShape,
  FeatureName: FeatureNameShape,
  Invitation: InvitationShape,
  OauthProviderParams: OauthProviderParamsShape,
  PageInfo: PageInfoShape,
  PaginationOptions: PaginationShape,
  Quorum: QuorumShape,
  RootUserParams: RootUserParamsShape,
  Tag: TagShape,
  Timestamp: TimestampShape,
  TvcApp: TvcAppShape,
  TvcDeployment: TvcDeploymentShape,
  TvcOperator: TvcOperatorShape,
  TvcOperatorSet: TvcOperatorSetShape,
  User: UserShape,
  UserParams: UserParamsShape,
  Vote: VoteShape,
} as const satisfies Record<string, TSchema>;

// Shapes are compared by content, because composing them copies them.
const names = new Map(Object.entries(SHARED_SHAPES).map(([name, schema]) => [JSON.stringify(schema), name]));

export const sharedNameOf = (schema: unknown): string | undefined => names.get(JSON.stringify(schema));
