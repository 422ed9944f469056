/* op_endpoints.c - DescribeEndpoints: where to send requests. There is one place: this daemon's own HTTP address.
 *
 * Only the client knows under which name it reached us, and over HTTP it says so (Host). Elsewhere, and for who does not
 * say, it is the address that we listen on. */
#include "proxy/handlers.h"
#include "proxy/worker.h"

enum { CACHE_MINUTES = 1440 };   /* as the service says */

struct slice endpoint_of(const struct call *c)
{
	return slice_present(c->host) ? c->host : slice_str(c->worker->shared->http_address);
}

void op_describe_endpoints(struct call *c)
{
	struct buf *b = &c->out;
	size_t at = record_begin(b), list, one;
	unsigned n = 0, members = 0;

	record_key(b, &n, DescribeEndpointsResponse_Endpoints);
	list = list_begin(b);
	one = record_begin(b);
	record_put_str(b, &members, Endpoint_Address, endpoint_of(c));
	record_put_int(b, &members, Endpoint_CachePeriodInMinutes, CACHE_MINUTES);
	record_end(b, one, members);
	list_end(b, list, 1);
	record_end(b, at, n);
	call_answer(c, FRAME_CACHE_NONE);
}
