import gossipClient from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js';
import { type Endpoint, type EventStoreDbAddress, nameOf } from './address.js';
import { noAnswer } from './failure.js';

/** The time limit for a response from one node, in ms. A frozen node accepts connections but never responds. */
const gossipMs = 1_000;

export type ClusterMember = { readonly endpoint: Endpoint; readonly leads: boolean };

/**
 * Returns the cluster members listed by a node, including the node itself. Rejects if the node does not respond within
 * one second.
 */
export function membersKnownTo(endpoint: Endpoint, tls: EventStoreDbAddress['tls']): Promise<readonly ClusterMember[]> {
  const client = new gossipClient.GossipClient(nameOf(endpoint), channelCredentials(tls), {
    // Uses a separate connection. A connection that is shared with other clients might no longer respond.
    'grpc.use_local_subchannel_pool': 1,
  });
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + gossipMs };
    client.read(new shared.Empty(), new Metadata(), options, (error, info) => {
      client.close();
      if (error !== null) return reject(error);
      resolve(info.getMembersList().map(memberOf));
    });
  });
}

function memberOf(member: gossip.MemberInfo): ClusterMember {
  const endpoint = member.getHttpEndPoint();
  return {
    endpoint: { address: endpoint?.getAddress() ?? '', port: endpoint?.getPort() ?? 0 },
    leads: member.getIsAlive() && member.getState() === gossip.MemberInfo.VNodeState.LEADER,
  };
}

/**
 * Queries all hosts at the same time. Returns the node that most hosts report as the leader, together with the members
 * listed by this node. The node must also report itself as the leader. A frozen leader does not respond, so it is not
 * returned even if other nodes still report it as the leader. Throws StoreUnavailable if there is no leader.
 */
export async function findLeader(
  hosts: readonly Endpoint[],
  tls: EventStoreDbAddress['tls'],
): Promise<{ readonly leader: Endpoint; readonly members: readonly Endpoint[] }> {
  const views = new Map<string, Promise<readonly ClusterMember[]>>();
  /**
   * Returns the members listed by a node, or an empty list if the node does not respond. Each node is queried only
   * once.
   */
  const viewOf = (node: Endpoint) => {
    const view = views.get(nameOf(node)) ?? membersKnownTo(node, tls).catch(() => []);
    views.set(nameOf(node), view);
    return view;
  };
  const known = (await Promise.all(hosts.map(viewOf))).filter(({ length }) => length > 0);
  if (known.length === 0) throw noAnswer('no node responds');
  // If there are several hosts, ignores a server that lists only itself. Such a server is not part of the cluster and
  // has a different log.
  const joined = hosts.length === 1 ? known : known.filter(({ length }) => length > 1);
  const votes = new Map<string, { readonly endpoint: Endpoint; count: number }>();
  for (const { endpoint } of joined.flat().filter(({ leads }) => leads)) {
    const named = votes.get(nameOf(endpoint));
    if (named === undefined) votes.set(nameOf(endpoint), { endpoint, count: 1 });
    else named.count += 1;
  }
  for (const { endpoint } of [...votes.values()].sort((a, b) => b.count - a.count)) {
    const members = await viewOf(endpoint);
    if (members.some((member) => member.leads && nameOf(member.endpoint) === nameOf(endpoint))) {
      return { leader: endpoint, members: members.map((member) => member.endpoint) };
    }
  }
  throw noAnswer('no node leads');
}

/** Returns the credentials for a gRPC channel to a node. */
export function channelCredentials(tls: EventStoreDbAddress['tls']): ChannelCredentials {
  return tls === null ? credentials.createInsecure() : credentials.createSsl(tls.rootCertificate);
}
