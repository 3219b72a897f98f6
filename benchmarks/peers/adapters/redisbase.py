"""Redis-backed peers: what users pick instead. No fsync, no row per job: not durable, listed apart."""

import redis
from adapter import Adapter


class RedisAdapter(Adapter):
    """What the peers on Redis share."""

    backend = "redis"
    scenarios = ("enqueue", "drain", "latency", "delayed")
    total = 0

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url)

    async def setup(self) -> None:
        self.client().flushdb()

    def left(self, r: redis.Redis) -> int:
        raise NotImplementedError

    async def done(self) -> int:
        return self.total - self.left(self.client())

    def drop_admin(self):
        self.client().flushdb()
