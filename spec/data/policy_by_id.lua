-- The lowest id first, whatever the node: as the policy `low` did when spec/data/flux_exchange.jsonl was recorded.
return { name = "by_id", order = "id" }
