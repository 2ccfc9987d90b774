import { translatesResponses } from '../../host/config/responses-mode.ts';
import type { RouteTarget } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { contextOf } from '../../host/http/context.ts';
import type { DrawnOrder } from '../../host/pipeline/exchange-state.ts';
import { HeardNotes } from '../../host/pipeline/heard-notes.ts';
import { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { ModelGroup, ResolvedName } from '../../host/pipeline/model-group.ts';
import type { Target } from '../../host/pipeline/target.ts';
import { firstServing, routedTarget } from '../../host/pipeline/turns/ranked-routes.ts';
import type { ReadRequest } from '../../host/http/surface-route.ts';
import type { Forwarding } from './read-forwarded.ts';
import { isTranslated, needsTranslation } from './translation.ts';

/** How a request of the Responses API is answered, and the order that was drawn to know it. */
export interface Decision {
  readonly isTranslated: boolean;
  readonly drawn: DrawnOrder | undefined;
}

const FORWARDED: Decision = Object.freeze({ isTranslated: false, drawn: undefined });

/** Decides before the request has an exchange: it runs on one surface or the other. In a group of models the first ranked route decides. */
export function decide(forwarding: Forwarding, read: ReadRequest, generation: Generation): Decision {
  const { named, model, response } = forwarding;
  const { config, groups } = generation;
  if (!translatesResponses(config)) return FORWARDED;
  const meant = model !== undefined && Object.hasOwn(config.aliases, model) ? config.aliases[model] : model;
  const group = meant === undefined ? undefined : groups?.of(meant);
  if (group && meant !== undefined && named === undefined)
    return firstOf(openProbe(forwarding, read, meant), generation, group);
  const { limits = {} } = contextOf(response);
  return { isTranslated: isTranslated(generation, { named, model: meant, limits }), drawn: undefined };
}

/** An exchange whose route is asked for, and no more. */
function openProbe({ host, response, request }: Forwarding, read: ReadRequest, model: string): LiveExchange {
  const { id, principal, limits, arrivedAt } = contextOf(response);
  const probe = new LiveExchange({
    id,
    principal,
    limits,
    arrivedAt,
    surface: 'responses',
    clock: host.services.clock,
    metadata: {},
    request: { ...read.request, model },
    streaming: read.streaming,
    clientHeaders: request.headers,
    api: read.api,
  });
  probe.routing.alsoOn = 'responses.translated';
  return probe;
}

/** The first route that serves, of the group or of what its fallbacks name. */
function firstOf(probe: LiveExchange, generation: Generation, group: ModelGroup): Decision {
  const { routing, model: name } = probe;
  const heard = new HeardNotes();
  routing.explaining = heard;
  for (const resolved of [{ name, group }, ...(generation.groups?.behind(name, group) ?? [])]) {
    routing.group = resolved.group;
    routing.fallback = resolved.name === name ? undefined : resolved.name;
    const ranked = generation.hooks.route.call(marked(probe, resolved, generation), probe);
    const first = firstServing(ranked, probe, generation);
    if (!first) continue;
    return {
      isTranslated: needsTranslation(first.target, generation),
      drawn: routing.drawn && { ...routing.drawn, abLabel: heard.label },
    };
  }
  return FORWARDED;
}

/** A route serves if the request can be sent on to it, or where it is to be translated, if its provider chats. */
function marked(probe: LiveExchange, { name, group }: ResolvedName, generation: Generation): readonly RouteTarget[] {
  const known = group ?? generation.models;
  const translated = known.routeTargets(name, 'responses.translated', probe.streaming);
  const isChatted = (target: Target | undefined): boolean =>
    target?.provider !== undefined && needsTranslation(target, generation);
  return known
    .routeTargets(name, 'responses', false)
    .map((target, at) =>
      isChatted(routedTarget(target.virtualKey, probe, generation)) ? (translated[at] ?? target) : target,
    );
}
