import type { CustosClient, OPERATIONS, OperationMethods } from '@custos/sdk';
import {
  keepPreviousData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import { useMemo } from 'react';
import { useOrganization } from '../session/organization.ts';
import { useSessionOrThrow, useSessionState } from '../session/session.ts';
import { useClient } from './client.ts';
import { joinPages, keptPage } from './refresh.ts';

type Operations = typeof OPERATIONS;
/** Methods of the client that read. */
export type QueryMethod = {
  [Method in keyof Operations]: Operations[Method] extends { kind: 'query' } ? Method : never;
}[keyof Operations];
/** What such a method takes and answers. */
export type ParametersOf<Method extends keyof OperationMethods> = NonNullable<Parameters<OperationMethods[Method]>[0]>;
export type AnswerOf<Method extends keyof OperationMethods> = Awaited<ReturnType<OperationMethods[Method]>>;

export interface UseApiOptions {
  readonly enabled?: boolean;
  /** Ask again after so long, for what the feed does not tell. */
  readonly everyMs?: number;
  /** While other parameters load, show the answer to the last ones. */
  readonly keepsPrevious?: boolean;
  /** Another organization than the one that is shown. */
  readonly organizationId?: string;
}

const call = <Method extends QueryMethod>(
  client: CustosClient,
  method: Method,
  parameters: object,
  options: object,
): Promise<AnswerOf<Method>> =>
  (client[method] as (parameters: object, options: object) => Promise<AnswerOf<Method>>)(parameters, options);

/** One query, kept and refreshed. */
export function useApi<Method extends QueryMethod>(
  method: Method,
  parameters: ParametersOf<Method> | Record<string, never> = {},
  { enabled = true, everyMs, keepsPrevious = false, organizationId }: UseApiOptions = {},
): UseQueryResult<AnswerOf<Method>, Error> {
  const client = useClient();
  const shown = useShownKey(organizationId);
  const { session } = useSessionState();
  return useQuery({
    queryKey: ['api', shown, method, parameters],
    queryFn: ({ signal }) =>
      call(client, method, parameters, { signal, ...(organizationId !== undefined && { organizationId }) }),
    enabled: enabled && session !== undefined,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
}

interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string;
}

export interface Paged<Item> {
  readonly items: readonly Item[];
  readonly query: UseInfiniteQueryResult<unknown, Error>;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
}

export interface UseApiPagesOptions<Item> extends UseApiOptions {
  readonly pageSize?: number;
  /** What tells rows apart. With it, only the first pages of a long list are asked for anew. */
  readonly keyOf?: (item: Item) => string;
}

/** How many pages were asked for, by what can stop it: a refresh asks for one after the other. */
const asked = new WeakMap<AbortSignal, number>();

/** A list that is read page by page. `pick` takes the items out of an answer. */
export function useApiPages<Method extends QueryMethod, Item>(
  method: Method,
  parameters: Omit<ParametersOf<Method>, 'paginationOptions'>,
  pick: (answer: AnswerOf<Method>) => readonly Item[],
  { enabled = true, everyMs, organizationId, pageSize = 100, keyOf }: UseApiPagesOptions<Item> = {},
): Paged<Item> {
  const client = useClient();
  const shown = useShownKey(organizationId);
  const { session } = useSessionState();
  const query = useInfiniteQuery({
    queryKey: ['api', shown, method, parameters, { pageSize }],
    initialPageParam: '',
    queryFn: ({ signal, pageParam, client: queries, queryKey }) => {
      const position = asked.get(signal) ?? 0;
      asked.set(signal, position + 1);
      const state = queries.getQueryState<{ pages: AnswerOf<Method>[] }>(queryKey);
      const isRefresh = keyOf !== undefined && state?.fetchMeta?.fetchMore === undefined;
      const kept = isRefresh ? keptPage(state?.data?.pages ?? [], position) : undefined;
      if (kept !== undefined) return kept;
      const paginationOptions = { limit: String(pageSize), ...(pageParam !== '' && { after: pageParam }) };
      return call(
        client,
        method,
        { ...parameters, paginationOptions },
        { signal, ...(organizationId !== undefined && { organizationId }) },
      );
    },
    getNextPageParam: (last) => {
      const { pageInfo } = last as { pageInfo?: PageInfo };
      return pageInfo?.hasNextPage === true ? pageInfo.endCursor : undefined;
    },
    enabled: enabled && session !== undefined,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
  const pages = query.data?.pages;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every `pick` of one list picks the same
  const items = useMemo(
    () =>
      joinPages(
        (pages ?? []).map((page) => pick(page as AnswerOf<Method>)),
        keyOf,
      ),
    [pages],
  );
  return {
    items,
    query,
    hasMore: query.hasNextPage,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
    },
  };
}

/** Answers belong to who asked and to the organization that was asked about. */
export function useShownKey(organizationId: string | undefined): readonly string[] {
  const { userId } = useSessionOrThrow();
  const shown = useOrganization();
  return [userId, organizationId ?? shown.organizationId];
}
