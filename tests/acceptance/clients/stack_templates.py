"""The templates of the tests of stacks."""

#: Changes of `change` do not affect `keep`.
TEMPLATE = """\
    heat_template_version: 2021-04-16
    description: Two resources.
    parameters:
      value: {type: string, default: hello}
    resources:
      change:
        type: OS::Heat::TestResource
        properties: {value: {get_param: value}}
      keep:
        type: OS::Heat::RandomString
        properties: {length: 12}
    outputs:
      text: {description: The value., value: {get_attr: [change, output]}}
    """
#: The same in the format of AWS CloudFormation.
CLOUDFORMATION = """\
    AWSTemplateFormatVersion: 2010-09-09
    Description: Two resources.
    Parameters:
      Value: {Type: String, Default: hello, AllowedValues: [hello, hi]}
    Mappings:
      Lengths: {hello: {characters: 5}, hi: {characters: 2}}
    Conditions:
      IsShort: {'Fn::Equals': [{Ref: Value}, hi]}
    Resources:
      change:
        Type: OS::Heat::TestResource
        Properties:
          value: {'Fn::Join': ['-', [{Ref: Value}, {Ref: 'AWS::StackName'}]]}
      keep:
        Type: OS::Heat::RandomString
        Properties: {length: {'Fn::FindInMap': [Lengths, {Ref: Value}, characters]}}
      short: {Type: OS::Heat::None, Condition: IsShort}
    Outputs:
      Text: {Description: The value., Value: {'Fn::GetAtt': [change, output]}}
      Random: {Value: {'Fn::GetAtt': keep.value}}
    """
MORE = """\
    heat_template_version: 2021-04-16
    resources:
      change:
        type: OS::Heat::TestResource
        properties: {value: changed}
      keep:
        type: OS::Heat::RandomString
        properties: {length: 12}
      more: {type: OS::Heat::None}
    """
FAILING = """\
    heat_template_version: 2021-04-16
    resources:
      bad: {type: OS::Heat::TestResource, properties: {fail: true}}
    """
#: Deleted slowly, since the command finds only stacks that still exist by name.
SLOW_DELETION = """\
    heat_template_version: 2021-04-16
    resources:
      slow:
        type: OS::Heat::TestResource
        properties: {action_wait_secs: {delete: 4}}
    """
SLOW = """\
    heat_template_version: 2021-04-16
    parameters: {seconds: {type: number, default: 0}}
    resources:
      slow:
        type: OS::Heat::TestResource
        properties:
          value: {str_replace: {template: 'for S s', params: {S: {get_param: seconds}}}}
          action_wait_secs: {update: {get_param: seconds}}
    """
