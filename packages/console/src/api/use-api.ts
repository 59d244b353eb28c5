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
import type { KeyOf, Pick } from './pages.ts';
import { hasManyPages, type PagesMeta } from './refresh-queries.ts';
import { useFreshStart } from './use-fresh-start.ts';

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

export interface UseApiPagesOptions<Item, Answer, Kept> extends UseApiOptions {
  readonly pageSize?: number;
  /** What tells rows apart, where it is not an id. */
  readonly keyOf?: (item: Item) => string;
  /** What is kept of an answer with its `pageInfo`, for lists of very many large items. */
  readonly keep?: (answer: Answer) => Kept;
}

/** A list that is read page by page. `pick` takes the items out of an answer. */
export function useApiPages<Method extends QueryMethod, Item, Kept = AnswerOf<Method>>(
  method: Method,
  parameters: Omit<ParametersOf<Method>, 'paginationOptions'>,
  pick: (kept: Kept) => readonly Item[],
  {
    enabled = true,
    everyMs,
    organizationId,
    pageSize = 100,
    keyOf,
    keep,
  }: UseApiPagesOptions<Item, AnswerOf<Method>, Kept> = {},
): Paged<Item> {
  const client = useClient();
  const shown = useShownKey(organizationId);
  const { session } = useSessionState();
  const read = async (after: string, signal: AbortSignal): Promise<Kept> => {
    const paginationOptions = { limit: String(pageSize), ...(after !== '' && { after }) };
    const options = { signal, ...(organizationId !== undefined && { organizationId }) };
    const answer = await call(client, method, { ...parameters, paginationOptions }, options);
    return keep === undefined ? (answer as unknown as Kept) : keep(answer);
  };
  const queryKey = ['api', shown, method, parameters, { pageSize }];
  const meta: PagesMeta = {
    pick: pick as Pick,
    keyOf: keyOf as KeyOf | undefined,
    readFirst: (signal) => read('', signal),
  };
  useFreshStart(queryKey);
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: '',
    queryFn: ({ signal, pageParam }) => read(pageParam, signal),
    meta,
    // Of a long list only the first page is asked for again; the feed says when.
    refetchOnMount: isShort,
    refetchOnWindowFocus: isShort,
    refetchOnReconnect: isShort,
    getNextPageParam: (last) => {
      const { pageInfo } = last as { pageInfo?: PageInfo };
      return pageInfo?.hasNextPage === true ? pageInfo.endCursor : undefined;
    },
    enabled: enabled && session !== undefined,
    ...(everyMs !== undefined && {
      refetchInterval: (asked: Parameters<typeof hasManyPages>[0]) => (hasManyPages(asked) ? false : everyMs),
    }),
  });
  const pages = query.data?.pages;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every `pick` of one list picks the same
  const items = useMemo(() => (pages ?? []).flatMap((page) => pick(page as Kept)), [pages]);
  return {
    items,
    query,
    hasMore: query.hasNextPage,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
    },
  };
}

const isShort = (query: Parameters<typeof hasManyPages>[0]): boolean => !hasManyPages(query);

/** Answers belong to who asked and to the organization that was asked about. */
export function useShownKey(organizationId: string | undefined): readonly string[] {
  const { userId } = useSessionOrThrow();
  const shown = useOrganization();
  return [userId, organizationId ?? shown.organizationId];
}
